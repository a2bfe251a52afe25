// A client of the types which openapi-typescript made of the server's description: it begins a run, waits, reads on.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Run = components["schemas"]["RunDetail"];

declare const process: { argv: string[] };
const api = createClient<paths>({ baseUrl: process.argv[2] ?? "" });

async function begun(question: string): Promise<string> {
  const { data, error } = await api.POST("/api/v1/runs", { body: { question, depth: "light" } });
  if (error || !data) throw new Error(error?.detail ?? "no run");
  return data.id;
}

async function ended(run: string): Promise<Run> {
  for (;;) {
    const { data, error } = await api.GET("/api/v1/runs/{run}", { params: { path: { run } } });
    if (error || !data) throw new Error(error?.detail ?? "no run");
    if (["completed", "failed", "cancelled"].includes(data.status)) return data;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const run = await ended(await begun("How far does the tide at Brest rise?"));
const unknown = await api.GET("/api/v1/runs/{run}", { params: { path: { run: "nobody" } } });
const listed = await api.GET("/api/v1/runs", { params: { query: { limit: 1 } } });
// @ts-expect-error a depth which nobody knows is refused by the compiler already
await api.POST("/api/v1/runs", { body: { question: "?", depth: "abyss" } });
console.log(
  JSON.stringify({ status: run.status, last: run.last_seq, problem: unknown.error?.type, first: listed.data?.runs[0]?.id === run.id }),
);
