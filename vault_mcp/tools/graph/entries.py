"""The fifteen graph tools as a client sees them."""

from vault_mcp.tools import schema as s
from vault_mcp.tools.graph import entities, observations, reading, relations, shapes, taxonomy
from vault_mcp.tools.tool import ADDS, CHANGES, READS, Hints, Tool


def _tool(
    name: str,
    title: str,
    description: str,
    inputs: s.Record,
    result: s.Record,
    hints: Hints,
    run: object,
    core: bool = False,
) -> Tool:
    if not callable(run):
        raise TypeError(name)
    return Tool(
        name=name,
        title=title,
        family="graph",
        description=" ".join(description.split()),
        inputs=inputs,
        result=result,
        hints=hints,
        run=run,
        in_core=core,
    )


CREATE_ENTITIES = _tool(
    "create_entities",
    "Create entities",
    """Create new entities in the knowledge graph, each as one Markdown note with its first observations.
    Every observation is stamped with your name and the time, and the call is one Git commit. An entity
    whose name is taken is left as it is and listed in skipped, its observations not saved: for those
    use add_observations. Repeated texts are kept once. A blank name, type or observation fails the
    call, nothing saved.""",
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

CREATE_RELATIONS = _tool(
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

ADD_OBSERVATIONS = _tool(
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

EDIT_OBSERVATION = _tool(
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

SUPERSEDE_OBSERVATION = _tool(
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

RENAME_ENTITY = _tool(
    "rename_entity",
    "Rename entity",
    """Rename an entity and everything that points to it. Moves its note, and rewrites every wikilink,
    property link, relation and canvas card to it in the same Git commit; observations, stamps and
    history are kept. Returns the renamed entity. Fails with nothing saved when the entity does not
    exist, or when the new name is blank or taken by another entity: to join two entities use
    merge_entities. To move a file without renaming the entity, use memory_rename.""",
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

MERGE_ENTITIES = _tool(
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

DELETE_ENTITIES = _tool(
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

DELETE_OBSERVATIONS = _tool(
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

DELETE_RELATIONS = _tool(
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

READ_GRAPH = _tool(
    "read_graph",
    "Read the knowledge graph",
    """Read the knowledge graph page by page: entities by name with their observations, and the relations
    that start from them, filtered by time or author where asked. Reads the index, changes nothing and
    makes no commit. Each page is bounded and says how much is left and how to go on with cursor. A bad
    date fails with what is wanted. To find something by words use search_nodes; for entities you can
    name, open_nodes.""",
    s.record(
        {
            "since": shapes.SINCE,
            "before": shapes.BEFORE,
            "agent": shapes.AGENT,
            "limit": s.integer("Entities a page; 100 unless set.", default=100, minimum=1, maximum=1000),
            "include_superseded": shapes.SUPERSEDED,
            "cursor": shapes.CURSOR,
        }
    ),
    s.record(
        {
            "entities": s.array("", shapes.ENTITY),
            "relations": s.array("", shapes.RELATION),
            **shapes.PAGE,
        }
    ),
    READS,
    reading.read_graph,
)

SEARCH_NODES = _tool(
    "search_nodes",
    "Search the knowledge graph",
    """Search entities and notes for words in names, types, observations and text, best first. Any part of
    a word matches (fas finds fast), several words match in any order, "quoted words" match as a phrase,
    every script works, and no character is special. Returns the entities with all their facts, the
    relations that touch them, and the hits with score. Changes nothing. A blank query gives everything,
    page by page. For known names use open_nodes; for key-value entries, search_memory.""",
    s.record(
        {
            "query": s.text('Words, parts of words, or "quoted phrases".'),
            "since": shapes.SINCE,
            "before": shapes.BEFORE,
            "agent": shapes.AGENT,
            "limit": s.integer("Entities a page; 20 unless set.", default=20, minimum=1, maximum=200),
            "expand": s.boolean("Also give entities that are closely related to the hits.", default=False),
            "include_superseded": shapes.SUPERSEDED,
            "cursor": shapes.CURSOR,
        }
    ),
    s.record(
        {
            "entities": s.array("", shapes.ENTITY),
            "relations": s.array("", shapes.RELATION),
            "hits": s.array("rank, score, entityName and observation of each hit.", s.record({})),
            **shapes.PAGE,
        }
    ),
    READS,
    reading.search_nodes,
    core=True,
)

OPEN_NODES = _tool(
    "open_nodes",
    "Open entities",
    """Open entities by exact name, with all their observations and every relation that touches them,
    whatever stands at the other end. A note that is no entity opens as type note, without observations.
    Unknown names are listed in missing. Reads the index, changes nothing. Each entity comes with the
    version that if_version takes. Names match exactly, in any Unicode form; when you do not know the
    name, use search_nodes.""",
    s.record(
        {
            "names": s.array("Exact names of the entities.", s.text()),
            "include_superseded": shapes.SUPERSEDED,
            "cursor": shapes.CURSOR,
        }
    ),
    s.record(
        {
            "entities": s.array("", shapes.ENTITY),
            "relations": s.array("", shapes.RELATION),
            "missing": s.array("Names that were not found.", s.text(), optional=True),
            **shapes.PAGE,
        }
    ),
    READS,
    reading.open_nodes,
    core=True,
)

INITIALIZE_MEMORY = _tool(
    "initialize_memory",
    "Start or adopt a memory",
    """Start the graph afresh, or adopt this vault as the memory's home. fresh moves every entity to the
    archive folder in one Git commit, so the graph is empty and nothing is lost: the notes stay
    searchable and the commit can be undone. adopt only records the vault as yours. Returns the status
    and, for fresh, where the entities went. Fails with nothing saved when a note cannot be moved. To
    remove single entities use delete_entities.""",
    s.record({"mode": s.choice("fresh archives all entities; adopt keeps everything.", ("fresh", "adopt"))}),
    s.record(
        {
            "status": s.text("fresh, adopted or unchanged."),
            "header": s.record({}, "Name, place and start of this memory."),
            "backup": s.text("Folder that the entities were moved to, or null.", nullable=True),
            "receipt": shapes.RECEIPT,
        }
    ),
    Hints(destructive=True),
    taxonomy.initialize_memory,
)

EXPORT_TAXONOMY = _tool(
    "export_taxonomy",
    "Export the taxonomy",
    """Write the taxonomy of the memory, its entity types, relation types and tags with their counts, as
    JSON to taxonomy.json in the vault, in one Git commit; when it says the same as before, nothing is
    committed. Returns the path and the counts. Use it to keep types consistent before create_entities.
    To read it without writing, read the resource memory://taxonomy. Fails with nothing saved when the
    file cannot be written.""",
    s.NOTHING,
    s.record(
        {
            "path": s.text("Path of the file in the vault."),
            "taxonomy_version": s.text(),
            "counts": s.record({}, "Entities, observations and relations."),
            "receipt": shapes.RECEIPT,
        }
    ),
    ADDS,
    taxonomy.export_taxonomy,
)

TOOLS = (
    CREATE_ENTITIES,
    CREATE_RELATIONS,
    ADD_OBSERVATIONS,
    EDIT_OBSERVATION,
    SUPERSEDE_OBSERVATION,
    RENAME_ENTITY,
    MERGE_ENTITIES,
    DELETE_ENTITIES,
    DELETE_OBSERVATIONS,
    DELETE_RELATIONS,
    READ_GRAPH,
    SEARCH_NODES,
    OPEN_NODES,
    INITIALIZE_MEMORY,
    EXPORT_TAXONOMY,
)
