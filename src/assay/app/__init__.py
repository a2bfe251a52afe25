"""The composition root: turns settings into a working engine. The library's whole surface is the class `Assay`.

    async with Assay(home="~/research") as assay:
        run = assay.start("What changed in 2.0?", sources=["docs/"])
        async for event in run:
            ...
        report = await run.report()

Its public names are those of `assay`. Each method of `Assay` is a function in a module of `services`, over one
`Context`. These modules are loaded when one of their functions is first called, so a command that lists runs loads
nothing that executes them.
"""
