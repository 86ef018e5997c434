"""What an agent can do: plain functions on a vault, and the catalog that names them."""
