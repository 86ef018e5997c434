// Questions to the program that serves this page, and its news.

async function told(answer) {
  const type = answer.headers.get("content-type") || "";
  if (!type.startsWith("application/json")) throw new Error((await answer.text()).slice(0, 400));
  const given = await answer.json();
  if (!answer.ok) {
    const error = new Error(given.error || "The page could not be answered.");
    error.status = answer.status;
    throw error;
  }
  return given;
}

export async function ask(what, asked = {}, signal) {
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value));
  try {
    return await told(await fetch(`api/${what}?${query}`, { signal }));
  } catch (error) {
    if (error instanceof TypeError) throw new Error("The program behind this page is not running any more. Start vault-mcp ui again.");
    throw error;
  }
}

export async function undo(change, skip = false) {
  const body = JSON.stringify({ change, skip });
  return told(await fetch("api/undo", { method: "POST", headers: { "content-type": "application/json" }, body }));
}

export function listen(hear) {
  let known = null;
  const news = new EventSource("api/news");
  news.addEventListener("message", (event) => {
    if (known !== null && event.data !== known) hear();
    known = event.data;
  });
}
