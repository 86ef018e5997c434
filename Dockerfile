# The server over HTTP, for agents with tokens. What it needs is said in docs/http.md.
FROM python:3.13-slim

# hadolint ignore=DL3008  # any git of the image's own Debian will do; a pinned one vanishes from its mirror
RUN apt-get update \
    && apt-get install --no-install-recommends --yes git \
    && rm -rf /var/lib/apt/lists/*

COPY pyproject.toml README.md LICENSE /src/
COPY vault_mcp /src/vault_mcp
COPY sample_vault /src/sample_vault
RUN pip install --no-cache-dir --compile /src && rm -rf /src

# /vault is the memory, /settings holds the hashes of the tokens: apart, so that whoever can write notes
# cannot let themselves in.
RUN useradd --uid 1000 --create-home vault \
    && install --directory --owner=vault --group=vault --mode=700 /vault /settings
USER 1000:1000
ENV VAULT_MCP_DIR=/vault \
    VAULT_MCP_HTTP=0.0.0.0:8765 \
    XDG_CONFIG_HOME=/settings
VOLUME ["/vault", "/settings"]
EXPOSE 8765
STOPSIGNAL SIGTERM

HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --start-interval=2s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8765/health', timeout=4)"]

ENTRYPOINT ["vault-mcp"]
CMD ["serve"]
