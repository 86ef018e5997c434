"""The graph tools that change something, as a client sees them."""

from vault_mcp.tools import schema as s
from vault_mcp.tools.graph import entities, observations, relations, shapes
from vault_mcp.tools.graph.shapes import graph_tool
from vault_mcp.tools.shapes import IF_VERSION, IF_VERSIONS, RECEIPT, WARNINGS
from vault_mcp.tools.tool import ADDS, CHANGES, Hints

CREATE_ENTITIES = graph_tool(
    "create_entities",
    "Create entities",
    """Create new entities, each one Markdown note with its first facts, every fact stamped with your
    name and the time, the call one Git commit. Use it for people, projects and things not there yet. An
    entity whose name is taken is left as it is, its facts not saved, and listed in skipped: give them
    to add_observations. A plain note of that name becomes the entity and keeps its text. A blank name,
    type or fact fails the call, nothing saved.""",
    s.record(
        {
            "entities": s.array(
                "The entities to make.",
                s.record(
                    {
                        "name": s.text("Unique name, as people would say it."),
                        "entityType": s.text("What it is in a word, as in person, project, decision."),
                        "observations": s.array("Facts, one plain sentence each; may be empty.", s.text()),
                    }
                ),
            )
        }
    ),
    s.record(
        {
            "entities": shapes.ENTITIES,
            "skipped": s.array("Taken names.", s.text()),
            "warnings": WARNINGS,
            "message": s.text(optional=True),
            "receipt": RECEIPT,
        }
    ),
    ADDS,
    entities.create_entities,
    core=True,
)

CREATE_RELATIONS = graph_tool(
    "create_relations",
    "Create relations",
    """Create typed relations between entities or notes that exist, each one stamped wikilink line in the
    note it starts from; the call is one Git commit. One already there changes nothing; one with a missing
    end is skipped and listed: make that with create_entities first. A blank type fails the call, nothing
    saved. Where an end is known by number or path use memory_link; for a fact about one entity,
    add_observations.""",
    s.record({"relations": shapes.NEW_RELATIONS}),
    s.record(
        {
            "relations": shapes.RELATIONS,
            "skipped": s.array("from, to, relationType, missing.", s.record({})),
            "message": s.text(optional=True),
            "receipt": RECEIPT,
        }
    ),
    ADDS,
    relations.create_relations,
    core=True,
)

ADD_OBSERVATIONS = graph_tool(
    "add_observations",
    "Add observations",
    """Add facts to entities that exist, each one line of the entity's note, stamped with your name and
    the time; the call is one Git commit. A fact already there is left alone and not reported; a
    superseded one becomes current again. If any entity or source is not there, or a text is blank, the
    call fails, nothing saved. To correct a fact use edit_observation; to retire one,
    supersede_observation; for a new entity, create_entities.""",
    s.record(
        {
            "observations": s.array(
                "What to add to which entity.",
                s.record(
                    {
                        "entityName": s.text("Exact name of an existing entity."),
                        "contents": s.array("The facts, one plain sentence each.", s.text()),
                        "sources": s.array(
                            "Existing facts that these rest on.",
                            s.record(
                                {
                                    "entityName": s.text("Its entity."),
                                    "text": s.text("Its exact text."),
                                }
                            ),
                            default=(),
                        ),
                    }
                ),
            )
        }
    ),
    s.record(
        {
            "results": s.array(
                "",
                s.record({"entityName": s.text(), "addedObservations": shapes.OBSERVATIONS}),
            ),
            "warnings": WARNINGS,
            "receipt": RECEIPT,
        }
    ),
    ADDS,
    observations.add_observations,
    core=True,
)

EDIT_OBSERVATION = graph_tool(
    "edit_observation",
    "Edit observation",
    """Replace the text of one observation in place, to correct it. It keeps who added it and when, and
    gets edited_at and edited_by; the call is one Git commit, and its receipt names whose words were
    replaced. Fails, nothing saved, when the entity or exactly oldText is not there, newText is there
    already, or if_version is not current. For a further fact use add_observations; where the old one
    was true in its time, supersede_observation.""",
    s.record(
        {
            "entityName": s.text("Name of the entity that has the fact."),
            "oldText": s.text("Exact current text of the observation."),
            "newText": s.text("Replacement text, one plain sentence."),
            "if_version": IF_VERSION,
        }
    ),
    s.record(
        {
            "message": s.text(),
            "entityName": s.text(),
            "observation": shapes.OBSERVATION,
            "warnings": WARNINGS,
            "receipt": RECEIPT,
        }
    ),
    Hints(destructive=True),
    observations.edit_observation,
    core=True,
)

SUPERSEDE_OBSERVATION = graph_tool(
    "supersede_observation",
    "Supersede observation",
    """Retire one fact that was true and no longer is, optionally with the fact that replaces it. The
    old line moves under the note's Superseded heading with who, when and its replacement, and reads
    leave it out; the call is one Git commit. Fails, nothing saved, when the entity or exactly oldText
    is not there, is superseded already, or equals newText. To fix wording use edit_observation; for
    what was never true, delete_observations.""",
    s.record(
        {
            "entityName": s.text("Name of the entity that has the fact."),
            "oldText": s.text("Exact current text of the observation to retire."),
            "newText": s.text("The fact that is true now, if any.", default=""),
            "if_version": IF_VERSION,
        }
    ),
    s.record(
        {
            "message": s.text(),
            "entityName": s.text(),
            "superseded": shapes.OBSERVATION,
            "replacement": s.anything("The new observation or null."),
            "warnings": WARNINGS,
            "receipt": RECEIPT,
        }
    ),
    Hints(),
    observations.supersede_observation,
)

RENAME_ENTITY = graph_tool(
    "rename_entity",
    "Rename entity",
    """Rename an entity and everything that points to it: its note, and every wikilink, property link,
    relation and canvas card in the vault, in one Git commit; facts, stamps and history are kept. Fails,
    nothing saved, when the entity is not there, newName is blank or another entity's, or if_version is
    not current. To join two entities use merge_entities; to move the note to another folder,
    memory_rename.""",
    s.record(
        {
            "entityName": s.text("Current exact name of the entity."),
            "newName": s.text("New name; it must be free."),
            "if_version": IF_VERSION,
        }
    ),
    s.record({"message": s.text(), "entity": shapes.ENTITY, "receipt": RECEIPT}),
    Hints(destructive=True),
    entities.rename_entity,
)

MERGE_ENTITIES = graph_tool(
    "merge_entities",
    "Merge entities",
    """Merge one entity into another and remove the first, in one Git commit; history_undo takes it back.
    The target keeps its name and type. Facts move with their stamps, relations and all links are
    re-pointed, prose is appended. A fact that both have keeps the target's stamp; relations that would
    repeat or lead to themselves go. Fails, nothing saved, when either is not there or both are the same.
    For another name only, use rename_entity; to discard one, delete_entities.""",
    s.record(
        {
            "sourceName": s.text("Entity to merge and remove."),
            "targetName": s.text("Entity that stays and receives everything."),
            "if_version": IF_VERSIONS,
        }
    ),
    s.record(
        {
            "message": s.text(),
            "entity": shapes.ENTITY,
            "movedRelations": shapes.RELATIONS,
            "receipt": RECEIPT,
        }
    ),
    Hints(destructive=True),
    entities.merge_entities,
)

DELETE_ENTITIES = graph_tool(
    "delete_entities",
    "Delete entities",
    """Delete entities with all their facts, and every relation that touches them, in one Git commit;
    history keeps them, and history_restore brings them back. Links to them in a person's prose stay.
    Names that are not there are passed over. If one note cannot be changed the call fails, nothing
    saved. For single facts use delete_observations, or supersede_observation where they were true once;
    for duplicates, merge_entities.""",
    s.record(
        {
            "entityNames": s.array("Exact names of the entities to delete.", s.text()),
            "if_version": IF_VERSIONS,
        }
    ),
    s.record(
        {
            "success": s.boolean(),
            "message": s.text(),
            "deletedEntities": shapes.ENTITIES,
            "deletedRelations": shapes.RELATIONS,
            "receipt": RECEIPT,
        }
    ),
    CHANGES,
    entities.delete_entities,
    core=True,
)

DELETE_OBSERVATIONS = graph_tool(
    "delete_observations",
    "Delete observations",
    """Delete single facts of entities by their exact text, in one Git commit; only their lines leave
    the note, and history keeps them. Entities and texts that are not there are passed over; if a note
    cannot be changed the call fails, nothing saved. Use it for what was never true: to correct a fact
    use edit_observation; to retire one that was true once, supersede_observation; to remove a whole
    entity, delete_entities.""",
    s.record(
        {
            "deletions": s.array(
                "What to delete from which entity.",
                s.record(
                    {
                        "entityName": s.text("Exact name of the entity."),
                        "observations": s.array("Exact texts to delete.", s.text()),
                    }
                ),
            ),
            "if_version": IF_VERSIONS,
        }
    ),
    s.record(
        {
            "success": s.boolean(),
            "message": s.text(),
            "deletedObservations": s.array(
                "", s.record({"entityName": s.text(), "deletedObservations": shapes.OBSERVATIONS})
            ),
            "receipt": RECEIPT,
        }
    ),
    CHANGES,
    observations.delete_observations,
)

DELETE_RELATIONS = graph_tool(
    "delete_relations",
    "Delete relations",
    """Delete relations by their two ends and type, as create_relations and memory_link made them, in one
    Git commit. Each end is the name that open_nodes shows, not a memory's number. Only relation lines
    leave the notes: both ends and links in prose stay, and history keeps the lines. Those that are not
    there are passed over; if a note cannot be changed the call fails, nothing saved. To remove an entity
    with all its relations use delete_entities.""",
    s.record({"relations": shapes.NEW_RELATIONS, "if_version": IF_VERSIONS}),
    s.record(
        {
            "success": s.boolean(),
            "message": s.text(),
            "deletedRelations": shapes.RELATIONS,
            "receipt": RECEIPT,
        }
    ),
    CHANGES,
    relations.delete_relations,
)
