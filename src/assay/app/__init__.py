"""The composition root: settings in, a working engine out. The library's whole surface is the class `Assay`.

async with Assay(home="~/research") as assay:
    run = assay.start("What changed in 2.0?", sources=["docs/"])
    async for event in run:
        ...
    report = await run.report()

Its public names are those of `assay`. `Assay` says what there is; each of its methods is a function of a module of
`services`, over one `Context`. Those modules are loaded when a function of theirs is first called: a command which
lists runs loads nothing that makes them.
"""
