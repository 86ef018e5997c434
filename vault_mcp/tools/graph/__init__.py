"""The knowledge graph: entities are notes, observations and relations are lines of them."""
