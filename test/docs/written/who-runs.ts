import type { Block } from './markdown.ts'

/** Some blocks of a document: all of a kind, those with a mark, or the one that begins so. Left out: all. */
interface Which {
  readonly document: string
  readonly kind?: string
  readonly mark?: string
  readonly begins?: string
}

/** Blocks of commands, and programs, that a test of their own carries out. */
export const RUN_BY: readonly (Which & { readonly test: string })[] = [
  { document: 'README.md', kind: 'console', test: 'test/examples/quickstart.test.ts' },
  { document: 'docs/guides/five-minutes.md', kind: 'console', test: 'test/examples/quickstart.test.ts' },
  { document: 'docs/guides/five-minutes.md', begins: 'node examples/', test: 'test/examples/examples.test.ts' },
  { document: 'docs/guides/backup-restore.md', begins: 'tar -', test: 'test/examples/quickstart.test.ts' },
  { document: 'docs/guides/simulate.md', kind: 'console', test: 'test/cli/simulate.test.ts' },
  { document: 'docs/guides/tasks.md', mark: 'run', test: 'test/remote/tasks-guide.test.ts' },
  { document: 'docs/guides/mcp.md', mark: 'run', test: 'test/remote/mcp-guide.test.ts' },
  { document: 'docs/guides/openai-agent.md', mark: 'run', test: 'test/plane/openai-guide.test.ts' },
  { document: 'docs/guides/conversation-to-schedule.md', mark: 'run', test: 'test/plane/conversation-guide.test.ts' },
  { document: 'docs/concepts/providers.md', mark: 'run', test: 'test/remote/commands.test.ts' },
  { document: 'docs/guides/five-minutes.md', kind: 'js', test: 'test/examples/quickstart.test.ts' },
  { document: 'docs/guides/embed.md', kind: 'js', test: 'test/examples/guide.test.ts' },
  { document: 'docs/guides/client.md', kind: 'js', test: 'test/remote/client-guide.test.ts' },
  { document: 'docs/guides/python.md', kind: 'python', test: 'test/remote/python-guide.test.ts' },
  { document: 'docs/guides/inbound-hook.md', kind: 'js', test: 'test/plane/hook.test.ts' },
  { document: 'docs/guides/webhooks.md', kind: 'js', test: 'test/integrations/webhook/guide.test.ts' },
  { document: 'docs/guides/worker.md', kind: 'js', test: 'test/plane/worker-guide.test.ts' },
  // Printed from the table of operations: each is asked there, with the body of its example.
  { document: 'docs/reference/api.md', test: 'test/server/permission-matrix.test.ts' },
  ...[
    'backfill',
    'natural-language',
    'probe-before-model',
    'replace-crontab',
    'replace-goclaw',
    'replace-openclaw',
    'schedules-as-code',
  ].map((name) => ({ document: `docs/guides/${name}.md`, mark: 'run', test: 'test/server/import-guides.test.ts' })),
]

/** Documents whose other commands test/remote/documents.test.ts types into a shell. */
export const TYPED: readonly string[] = [
  'docs/concepts/agents.md',
  'docs/concepts/budgets.md',
  'docs/concepts/cadence.md',
  'docs/concepts/explain.md',
  'docs/concepts/guard-rails.md',
  'docs/concepts/heartbeats.md',
  'docs/concepts/secrets.md',
  'docs/guides/backfill.md',
  'docs/guides/cron-evaluator.md',
  'docs/guides/five-minutes.md',
  'docs/guides/inbound-hook.md',
  'docs/guides/many-nodes.md',
  'docs/guides/observe.md',
  'docs/guides/openai-agent.md',
  'docs/guides/schedules-as-code.md',
  'docs/guides/secure.md',
  'docs/guides/simulate.md',
  'docs/guides/slack.md',
  'docs/guides/tasks.md',
  'docs/guides/telegram.md',
  'docs/guides/troubleshoot.md',
  'docs/guides/upgrade.md',
  'docs/guides/webhooks.md',
  'docs/guides/worker.md',
  'docs/reference/rpc.md',
]

/** Blocks that no test can carry out, and why. Their words are checked like all others. */
export const NOT_RUN: readonly (Which & { readonly begins: string; readonly why: string })[] = [
  ...['docs/guides/python.md', 'clients/python/README.md'].map((document) => ({
    ...{ document, begins: 'pip install', why: 'asks a registry; the tests import the package from its folder' },
  })),
  {
    ...{ document: 'clients/python/README.md', kind: 'python' },
    ...{ begins: 'from escapement', why: 'the first lines of the first program of docs/guides/python.md' },
  },
  { document: 'README.md', begins: 'npm start', why: 'npm test runs this; test/serve/npm-start.test.ts starts' },
  { document: 'CONTRIBUTING.md', begins: 'npm run check', why: 'it runs this' },
  ...['bench/engine/README.md', 'docs/benchmarks.md'].map((document) => ({
    ...{
      document,
      begins: 'npm run bench  ',
      why: 'minutes on a quiet machine; test/tooling/bench.test.ts tries the programs',
    },
  })),
  {
    ...{ document: 'bench/http/README.md', begins: 'npm run bench -- http' },
    why: 'minutes on a quiet machine; test/tooling/bench.test.ts tries the programs',
  },
  {
    ...{ document: 'docs/benchmarks.md', begins: 'npm run bench -- statements' },
    why: 'minutes; test/tooling/bench.test.ts tries the programs',
  },
  ...['bench/engine/README.md', 'docs/benchmarks.md'].map((document) => ({
    ...{
      document,
      begins: 'npm run bench -- pairs',
      why: 'minutes; test/tooling/bench-alone.test.ts tries its arithmetic',
    },
  })),
  ...['faults', 'hostile', 'upgrade', 'virtual-day'].map((part) => ({
    ...{ document: 'docs/chaos.md', begins: `npm run chaos -- ${part}`, why: 'minutes; test/chaos tries its parts' },
  })),
  { document: 'docs/fuzzing.md', begins: 'npm run fuzz', why: 'minutes; test/fuzz tries its parts with fewer inputs' },
  { document: 'docs/concepts/simulation.md', begins: 'npm run agree', why: 'minutes; test/agreement tries fewer' },
  {
    ...{ document: 'docs/concepts/agents.md', begins: 'curl -X POST "$CALLBACK_URL"' },
    why: 'the address is that of an attempt under way; test/http-scenarios/http-agents.test.ts has one',
  },
  {
    ...{ document: 'docs/guides/embed.md', begins: 'npm install escapement' },
    why: 'asks a registry; npm run package-check installs what would be published',
  },
  {
    ...{ document: 'docs/guides/worker.md', begins: 'export ESCAPEMENT_KEY=…' },
    why: 'goes on until it is stopped; test/plane/worker-guide.test.ts lets a program do the work',
  },
  {
    ...{ document: 'docs/guides/worker.md', begins: 'import { startWorker }' },
    why: 'test/plane/worker.test.ts has workers that do the same, and more',
  },
  {
    ...{ document: 'test/fixtures/cron-vectors/README.md', begins: 'let t =' },
    why: 'a rule for programs of others; test/domain/time/vectors.test.ts obeys it',
  },
  {
    ...{ document: 'docs/guides/slack.md', begins: 'escapement targets create' },
    why: 'writes to Slack; test/plane/slack.test.ts has a stand-in for it',
  },
  {
    ...{ document: 'docs/guides/troubleshoot.md', begins: '$ escapement doctor --database-url' },
    why: 'shows what is wrong on a machine that is not this one; test/cli/doctor.test.ts makes each finding',
  },
  ...['pg_dump', 'createdb'].map((begins) => ({
    ...{ document: 'docs/guides/backup-restore.md', begins },
    why: 'the programs of PostgreSQL are not among what npm installs',
  })),
  ...[
    ['docs/guides/many-nodes.md', 'docker compose'],
    ['docs/guides/many-nodes.md', 'docker run'],
    ['docs/guides/many-nodes.md', 'useradd'],
    ['docs/guides/many-nodes.md', 'sudo -u escapement'],
    ['docs/guides/upgrade.md', 'npm install --prefix'],
    ['docs/guides/upgrade.md', 'docker compose'],
  ].map(([document = '', begins = '']) => ({
    ...{ document, begins },
    why: 'containers and services are not for tests; test/docs/deploy.test.ts reads the files they use',
  })),
]

const fits = (block: Block, { document, kind, mark, begins }: Which): boolean =>
  block.document === document &&
  (kind === undefined || block.kind === kind) &&
  (mark === undefined || block.marks.includes(mark)) &&
  (begins === undefined || block.text.startsWith(begins))

/** Whether somebody types it: it is a transcript or commands for a shell. */
export const isTyped = ({ kind }: Block): boolean => kind === 'sh' || kind === 'console'

const PROGRAMS = new Set(['js', 'ts', 'python'])

/** Whether a test has to carry it out. */
export const isCarriedOut = (block: Block): boolean => isTyped(block) || PROGRAMS.has(block.kind)

/** The tests, lists and reasons that claim a block. */
export const claimsOf = (block: Block): readonly string[] => {
  const claimed = [
    ...RUN_BY.filter((one) => fits(block, one)).map(({ test }) => test),
    ...NOT_RUN.filter((one) => fits(block, one)).map(({ why }) => why),
  ]
  return claimed.length === 0 && isTyped(block) && TYPED.includes(block.document) ? [HERE] : claimed
}

/** The claim of test/remote/documents.test.ts. */
export const HERE = 'test/remote/documents.test.ts'

/** Entries of the lists that are about no block, so that the lists stay as long as they have to be. */
export function idleEntries(blocks: readonly Block[]): readonly string[] {
  const idle = [...RUN_BY, ...NOT_RUN].filter((one) => !blocks.some((block) => fits(block, one)))
  const untyped = TYPED.filter(
    (document) => !blocks.some((block) => block.document === document && claimsOf(block)[0] === HERE),
  )
  return [...idle.map((one) => JSON.stringify(one)), ...untyped]
}
