"""Requests about the graph that a person can pick from a menu."""

from vault_mcp.tools.tool import Prompt

PROMPTS = (
    Prompt(
        name="cleanup",
        title="Clean up the memory",
        description="Find duplicate entities, stale facts and loose ends, and mend them with care.",
        text=(
            "Read the knowledge graph page by page with read_graph. List, before changing anything: "
            "entities that seem to be the same thing under two names; observations that repeat or "
            "contradict each other; facts that are out of date; entities without observations or "
            "relations. Propose what to do for each: merge_entities for duplicates, supersede_observation "
            "for facts that were true once, edit_observation for wording, delete_observations for what "
            "was never true. Wait for my agreement, then make the changes. Every call is one Git commit, "
            "so each can be taken back."
        ),
    ),
    Prompt(
        name="export",
        title="Export the taxonomy",
        description="Write down the types and tags in use, and point out the odd ones.",
        text=(
            "Call export_taxonomy and read the file it names. Tell me which entity types, relation types "
            "and tags are in use and how often, which of them seem to mean the same, and which name you "
            "would keep. Change nothing else."
        ),
    ),
    Prompt(
        name="reflect",
        title="Reflect on this conversation",
        description="Keep what this conversation taught that will matter later.",
        text=(
            "Look back over this conversation. What facts about people, projects, decisions or "
            "preferences will matter in later ones? Search for each with search_nodes first. Add new "
            "facts to the entities they belong to with add_observations, make missing entities with "
            "create_entities, connect them with create_relations, and retire facts that are no longer "
            "true with supersede_observation. Keep each fact to one plain sentence, leave out secrets, "
            "and tell me in the end what you kept."
        ),
    ),
)
