"""Requests that a person picks from a menu; each names the tools that do it."""

from vault_mcp.tools import suggesting
from vault_mcp.tools.tool import Argument, Prompt

PROMPTS = (
    Prompt(
        name="what_do_you_know",
        title="What do you know about …",
        description="Tell what the memory holds on a person, a project or any topic, and who said so.",
        arguments=(
            Argument(
                "topic",
                "A name, or what you want to know about.",
                suggesting.topics,
                required=True,
                otherwise="what I am working on",
            ),
        ),
        text=(
            "What do you know about {topic}? Look with memory_recall, then open the entities it concerns "
            "with open_nodes. Answer from what you find there alone. Say for each fact who recorded it "
            "and when, tell apart what people wrote from what agents did, and point out where facts "
            "disagree or seem out of date. If the memory holds nothing on it, say so. Change nothing."
        ),
        needs=("memory_recall", "open_nodes"),
    ),
    Prompt(
        name="remember_conversation",
        title="Remember this conversation",
        description="Keep what this conversation decided and taught, for the next one to go on from.",
        arguments=(
            Argument(
                "session",
                "The name under which to keep it; one of its own unless given.",
                suggesting.sessions,
                otherwise="a short name of your own for this conversation",
            ),
        ),
        text=(
            "Remember this conversation. Store one memory with memory_remember, session_id: {session}. It "
            "should stand alone: what we wanted, what was decided and why, what is left open, and who is "
            "to do what by when. Then search with search_nodes for the people, projects and things it is "
            "about, and add lasting facts about them with add_observations, one plain sentence each, "
            "making what is missing with create_entities. Leave out secrets and passing chatter. Tell me "
            "in the end what you kept."
        ),
        needs=("memory_remember", "search_nodes", "add_observations", "create_entities"),
    ),
    Prompt(
        name="weekly_review",
        title="Review the memory",
        description="Go through what was added and changed lately, by whom, and what needs a decision.",
        arguments=(
            Argument(
                "since",
                "From when on, as in 2026-10-05 or 1 week ago.",
                suggesting.moments,
                otherwise="1 week ago",
            ),
        ),
        text=(
            "Review what happened in the memory since {since}. List the changes with history_log and see "
            "what they amount to with history_diff, as far as its pages go. Tell me in a few lines: what "
            "is new, by topic; what I wrote myself; what agents added or changed of what I wrote. Then "
            "point out facts that disagree, questions left open, and anything that looks wrong or does "
            "not belong here, each with the change that brought it. Propose what to do, and change "
            "nothing before I agree."
        ),
        needs=("history_log", "history_diff"),
    ),
    Prompt(
        name="tidy_duplicates",
        title="Tidy up duplicates",
        description="Find entities and facts that are there twice, and join them once you have agreed.",
        arguments=(Argument("topic", "Only what concerns this; all of it unless given.", suggesting.topics),),
        text=(
            "Find duplicates in the memory. Topic, if I gave one: {topic}. Look through the entities with "
            "read_graph, page by page, or with search_nodes where there is a topic. Show me a list: "
            "entities that are the same thing under two names, and facts that say the same, each with the "
            "one you would keep and why. Be careful with namesakes: open both with open_nodes first. Once "
            "I agree, join entities with merge_entities and remove repeated facts with "
            "delete_observations. Every call is one commit that can be taken back."
        ),
        needs=("read_graph", "search_nodes", "open_nodes", "merge_entities", "delete_observations"),
    ),
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
        needs=(
            "read_graph",
            "merge_entities",
            "supersede_observation",
            "edit_observation",
            "delete_observations",
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
        needs=("export_taxonomy",),
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
        needs=(
            "search_nodes",
            "add_observations",
            "create_entities",
            "create_relations",
            "supersede_observation",
        ),
    ),
)
