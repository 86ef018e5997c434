// An app's side of the talk with its host: JSON-RPC by messages to the frame around it (MCP Apps, 2026-01-26).

export class Host {
  // `result(structured)` is called with the structured content of each tool result.
  constructor(name, result) {
    this.result = result;
    this.waiting = new Map();
    this.last = 0;
    this.can = {};
    addEventListener("message", (event) => { if (event.source === parent) this.hear(event.data); });
    this.ask("ui/initialize", { protocolVersion: "2026-01-26", appInfo: { name, version: "1" }, appCapabilities: {} }).then((given) => {
      this.can = given.hostCapabilities || {};
      this.dress(given.hostContext || {});
      this.send({ method: "ui/notifications/initialized", params: {} });
      new ResizeObserver(() => this.send({ method: "ui/notifications/size-changed",
        params: { width: document.documentElement.scrollWidth, height: Math.ceil(document.body.getBoundingClientRect().height) } })).observe(document.body);
    }).catch(() => {});
  }

  send(message) { parent.postMessage({ jsonrpc: "2.0", ...message }, "*"); }

  ask(method, params) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  hear(message) {
    if (!message || message.jsonrpc !== "2.0") return;
    if (message.method === undefined) {
      const asked = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (asked && message.error) asked.reject(new Error(message.error.message));
      else if (asked) asked.resolve(message.result);
    } else if (message.method === "ui/notifications/tool-result") {
      const given = message.params || {};
      if (given.structuredContent && !given.isError) this.result(given.structuredContent);
    } else if (message.method === "ui/notifications/host-context-changed") this.dress(message.params || {});
    else if (message.id !== undefined) this.send({ id: message.id, result: {} }); // ping, and the end
  }

  dress(context) {
    if (context.theme !== "light" && context.theme !== "dark") return;
    document.documentElement.dataset.theme = context.theme;
    dispatchEvent(new Event("themed"));
  }

  // Calls a tool of the server through the host, where it allows that.
  async call(name, given) {
    const told = await this.ask("tools/call", { name, arguments: given });
    if (told.isError) throw new Error((told.content || []).map((one) => one.text || "").join(" "));
    return told.structuredContent;
  }
}
