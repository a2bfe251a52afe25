"""The composition root: settings in, a working engine out. The library's whole surface is the class `Assay`.

async with Assay(home="~/research") as assay:
    run = assay.start("What changed in 2.0?", sources=["docs/"])
    async for event in run:
        ...
    report = await run.report()

Its public names are those of `assay`. Nothing is imported here: verifying a bundle needs no engine.
"""
