"""The graph tools that change something, as a client sees them."""

from vault_mcp.tools import schema as s
from vault_mcp.tools.graph import entities, observations, relations, shapes
from vault_mcp.tools.graph.shapes import graph_tool
from vault_mcp.tools.tool import ADDS, CHANGES, Hints

CREATE_ENTITIES = graph_tool(
    "create_entities",
    "Create entities",
    """Create new entities in the knowledge graph, each as one Markdown note with its first observations.
    Every observation is stamped with your name and the time, and the call is one Git commit. An entity
    whose name is taken is left as it is and listed in skipped, its observations not saved: for those
    use add_observations. A plain note of exactly that name becomes the entity and keeps all its text.
    A blank name, type or observation fails the call, nothing saved.""",
    s.record(
        {
            "entities": s.array(
                "The entities to make.",
                s.record(
                    {
                        "name": s.text("Unique name, as people would say it; it becomes the note's name."),
                        "entityType": s.text("What it is in a word, as in person, project, decision."),
                        "observations": s.array(
                            "Facts about it, one plain sentence each; may be empty.", s.text()
                        ),
                    }
                ),
            )
        }
    ),
    s.record(
        {
            "entities": s.array("The entities that were made.", shapes.ENTITY),
            "skipped": s.array("Names that were taken.", s.text()),
            "warnings": shapes.WARNINGS,
            "message": s.text(optional=True),
            "receipt": shapes.RECEIPT,
        }
    ),
    ADDS,
    entities.create_entities,
    core=True,
)

CREATE_RELATIONS = graph_tool(
    "create_relations",
    "Create relations",
    """Create typed relations between notes that exist, each as one wikilink line in the note it starts
    from, shown in Obsidian's graph. Each is stamped with your name and the time, and the call is one
    Git commit. A relation with a missing end is skipped and listed with its missing names: make those
    with create_entities first. One that is there already changes nothing. A blank relation type fails
    the call, nothing saved. For facts without a second entity, use add_observations.""",
    s.record({"relations": shapes.NEW_RELATIONS}),
    s.record(
        {
            "relations": s.array("The relations that were made.", shapes.RELATION),
            "skipped": s.array("Relations that were not, each with missing[].", s.record({})),
            "message": s.text(optional=True),
            "receipt": shapes.RECEIPT,
        }
    ),
    ADDS,
    relations.create_relations,
    core=True,
)

ADD_OBSERVATIONS = graph_tool(
    "add_observations",
    "Add observations",
    """Add facts to entities that exist, each as one line of the entity's note, stamped with your name and
    the time; the call is one Git commit. Facts already there are left alone and not reported as added;
    a superseded text becomes current again. Fails when any entity or named source does not exist or a
    text is blank, nothing saved for any of them. To correct a fact use edit_observation; to retire one,
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
                            "Facts that these were drawn from; each must exist.",
                            s.record(
                                {
                                    "entityName": s.text("Entity that holds the source."),
                                    "text": s.text("Exact text of the source."),
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
                "What was added, in the order asked.",
                s.record({"entityName": s.text(), "addedObservations": s.array("", shapes.OBSERVATION)}),
            ),
            "warnings": shapes.WARNINGS,
            "receipt": shapes.RECEIPT,
        }
    ),
    ADDS,
    observations.add_observations,
    core=True,
)

EDIT_OBSERVATION = graph_tool(
    "edit_observation",
    "Edit observation",
    """Replace one observation's text in place to correct a fact. Keeps the observation's original added_at
    and agent, and records the edit in edited_at and edited_by; the call is one Git commit, and the
    receipt says whose words were replaced. Returns the edited observation. Fails with nothing saved
    when the entity or the old text does not exist, or when the entity already has the new text. To add
    a new fact, see add_observations; to keep the old one on record, supersede_observation.""",
    s.record(
        {
            "entityName": s.text("Name of the entity that has the fact."),
            "oldText": s.text("Exact current text of the observation."),
            "newText": s.text("Replacement text, one plain sentence."),
            "if_version": shapes.IF_VERSION,
        }
    ),
    s.record(
        {
            "message": s.text(),
            "entityName": s.text(),
            "observation": shapes.OBSERVATION,
            "warnings": shapes.WARNINGS,
            "receipt": shapes.RECEIPT,
        }
    ),
    Hints(destructive=True),
    observations.edit_observation,
    core=True,
)

SUPERSEDE_OBSERVATION = graph_tool(
    "supersede_observation",
    "Supersede observation",
    """Retire one observation that is no longer true without losing it, optionally with the fact that
    replaces it. The old line moves under the note's Superseded heading with superseded_at,
    superseded_by and its replacement, and is hidden from normal reads; the call is one Git commit.
    Fails with nothing saved when the entity or text does not exist, is superseded already, or both
    texts are equal. To fix wording use edit_observation; to remove a wrong fact, delete_observations.""",
    s.record(
        {
            "entityName": s.text("Name of the entity that has the fact."),
            "oldText": s.text("Exact current text of the observation to retire."),
            "newText": s.text("The fact that is true now; leave out when there is none.", default=""),
        }
    ),
    s.record(
        {
            "message": s.text(),
            "entityName": s.text(),
            "superseded": shapes.OBSERVATION,
            "replacement": s.anything("The new observation, or null."),
            "warnings": shapes.WARNINGS,
            "receipt": shapes.RECEIPT,
        }
    ),
    Hints(),
    observations.supersede_observation,
)

RENAME_ENTITY = graph_tool(
    "rename_entity",
    "Rename entity",
    """Rename an entity and everything that points to it. Moves its note, and rewrites every wikilink,
    property link, relation and canvas card to it in the same Git commit; observations, stamps and
    history are kept. Returns the renamed entity. Fails with nothing saved when the entity does not
    exist, or when the new name is blank or taken by another entity: to join two entities use
    merge_entities. To move its note to another folder, use memory_rename.""",
    s.record(
        {
            "entityName": s.text("Current exact name of the entity."),
            "newName": s.text("New name; it must be free."),
            "if_version": shapes.IF_VERSION,
        }
    ),
    s.record({"message": s.text(), "entity": shapes.ENTITY, "receipt": shapes.RECEIPT}),
    Hints(destructive=True),
    entities.rename_entity,
)

MERGE_ENTITIES = graph_tool(
    "merge_entities",
    "Merge entities",
    """Merge one entity into another and remove the emptied one. Its observations move with their stamps,
    its relations and all links to it are re-pointed, its prose is appended, all in one Git commit;
    texts the target has keep the target's stamp, and relations that would point to themselves or repeat
    are dropped. Fails with nothing saved when either does not exist or both are the same. To only
    change a name, use rename_entity; to discard an entity, delete_entities.""",
    s.record(
        {
            "sourceName": s.text("Entity to merge and remove."),
            "targetName": s.text("Entity that stays and receives everything."),
        }
    ),
    s.record(
        {
            "message": s.text(),
            "entity": shapes.ENTITY,
            "movedRelations": s.array("Relations that now touch the target.", shapes.RELATION),
            "receipt": shapes.RECEIPT,
        }
    ),
    Hints(destructive=True),
    entities.merge_entities,
)

DELETE_ENTITIES = graph_tool(
    "delete_entities",
    "Delete entities",
    """Delete entities with all their observations, and every relation that touches them, in one Git
    commit. Returns the deleted records. Unknown names are passed over. Links to them in a person's
    prose stay as they are. The notes can be brought back from Git history. To retire single facts use
    delete_observations or supersede_observation; to join duplicates, merge_entities. If any note cannot
    be changed the call fails, nothing saved.""",
    s.record({"entityNames": s.array("Exact names of the entities to delete.", s.text())}),
    s.record(
        {
            "success": s.boolean(),
            "message": s.text(),
            "deletedEntities": s.array("", shapes.ENTITY),
            "deletedRelations": s.array("", shapes.RELATION),
            "receipt": shapes.RECEIPT,
        }
    ),
    CHANGES,
    entities.delete_entities,
    core=True,
)

DELETE_OBSERVATIONS = graph_tool(
    "delete_observations",
    "Delete observations",
    """Delete single facts from entities by their exact text, in one Git commit. Returns the deleted
    records; unknown entities and texts are passed over. Only the lines of these facts leave the note,
    and they can be brought back from Git history. To correct a fact use edit_observation; to retire one
    that was true once, supersede_observation; to remove a whole entity, delete_entities. If a note
    cannot be changed the call fails, nothing saved.""",
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
            )
        }
    ),
    s.record(
        {
            "success": s.boolean(),
            "message": s.text(),
            "deletedObservations": s.array(
                "", s.record({"entityName": s.text(), "deletedObservations": s.array("", shapes.OBSERVATION)})
            ),
            "receipt": shapes.RECEIPT,
        }
    ),
    CHANGES,
    observations.delete_observations,
)

DELETE_RELATIONS = graph_tool(
    "delete_relations",
    "Delete relations",
    """Delete relations by their two ends and type, in one Git commit. Returns the deleted records;
    relations that do not exist are passed over, and both entities stay. Only relation lines are
    removed: links in a person's prose are never touched. To remove an entity with all its relations use
    delete_entities; to make a relation, create_relations. If a note cannot be changed the call fails,
    nothing saved.""",
    s.record({"relations": shapes.NEW_RELATIONS}),
    s.record(
        {
            "success": s.boolean(),
            "message": s.text(),
            "deletedRelations": s.array("", shapes.RELATION),
            "receipt": shapes.RECEIPT,
        }
    ),
    CHANGES,
    relations.delete_relations,
)
