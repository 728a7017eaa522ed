import type { Command } from 'commander'
import { EscapementError } from '../../client/errors.ts'
import type { AsCodeDocument, PlanView } from '../../features/as-code/schema.ts'
import { AS_CODE_KINDS } from '../../core/as-code/kinds.ts'
import { placeText } from '../../yaml/place.ts'
import { readYaml, type ReadYaml } from '../../platform/yaml/yaml.ts'
import { flawLines } from '../as-code/flaw-lines.ts'
import { kindsIn } from '../as-code/kinds.ts'
import { isWork, planLines, planTotals } from '../as-code/plan-text.ts'
import { createStyle, type Style } from '../output/style.ts'
import { readFiles } from '../remote/files.ts'
import { printJson } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { EXIT, isTerminal, write, type ExitCode } from '../terminal.ts'

interface ApplyOptions {
  readonly file: readonly string[]
  readonly plan?: boolean
  readonly prune?: boolean
  readonly expect?: string
  readonly exitCode?: boolean
  readonly kinds?: string
}

/** `escapement apply`: makes what is stored what files say. It asks nothing, so that a job can run it. */
export function addApply(command: Command, desk: Desk): void {
  command
    .option('-f, --file <file>', 'file or directory, may be repeated; - reads stdin', collect, [])
    .option('--plan', 'show what would change, and change nothing')
    .option('--prune', 'delete stored objects that are not in the files, of the kinds they contain')
    .option('--expect <plan-id>', 'apply exactly that plan, or nothing')
    .option('--exit-code', 'with --plan: the exit code is 4 when something would change')
    .option('--kinds <kinds>', `only these, separated by commas: ${AS_CODE_KINDS.join(', ')}`)
  remote<ApplyOptions>(desk, command, { work: (talk, _, options) => apply(talk, options) })
}

const collect = (file: string, before: readonly string[]): readonly string[] => [...before, file]

async function apply(talk: Talk, options: ApplyOptions): Promise<ExitCode> {
  if (options.file.length === 0) throw new UsageError('-f FILE is lacking: a file of YAML, a directory, or - for stdin')
  if (options.exitCode === true && options.plan !== true)
    throw new UsageError('--exit-code belongs to --plan; what was applied ends with 0')
  const read = readYaml(await readFiles(talk.terminal, options.file))
  if (!read.ok) throw new UsageError(read.flaws.map((flaw) => `${placeText(flaw)} ${flaw.message}`).join('\n'))
  const document = chosen(read.value, options.kinds) as unknown as AsCodeDocument
  const query = { ...(options.prune === true && { prune: true }), ...(options.expect && { expect: options.expect }) }
  try {
    const { plan, apply: carryOut } = talk.client.asCode
    return await show(talk, await (options.plan === true ? plan : carryOut)(document, { query }), { read, options })
  } catch (error) {
    if (!(error instanceof EscapementError) || error.errors.length === 0) throw error
    return tellRefusal(talk, error, read)
  }
}

/** The version, and those kinds that are wanted; whatever else a file says is for the server to judge. */
function chosen(document: ReadYaml['value'], kinds: string | undefined): Readonly<Record<string, unknown>> {
  const wanted = kindsIn(kinds)
  if (wanted === null) return document
  const left = AS_CODE_KINDS.filter((kind) => !wanted.includes(kind))
  return Object.fromEntries(Object.entries(document).filter(([name]) => !left.some((kind) => kind === name)))
}

interface Asked {
  readonly read: ReadYaml
  readonly options: ApplyOptions
}

async function show(talk: Talk, plan: PlanView, { read, options }: Asked): Promise<ExitCode> {
  const flaws = plan.items.flatMap((item) => item.flaws)
  if (talk.json) await printJson(talk, plan)
  else {
    const lines = planLines(plan, talk)
    const hint = !plan.applied && flaws.length === 0 && isWork(plan) ? [talk.style.dim(hintOn(plan))] : []
    await talk.print(`${[...lines, ...hint, planTotals(plan)].join('\n')}\n`)
  }
  if (flaws.length > 0) {
    const style = complaining(talk)
    const text = ['It cannot be applied as it is:', ...flawLines(flaws, read.placeOf, style)].join('\n')
    await write(talk.terminal.stderr, `${text}\n`)
    return EXIT.refused
  }
  return options.exitCode === true && isWork(plan) ? EXIT.differs : EXIT.ok
}

const hintOn = (plan: PlanView): string => `Nothing was changed. --expect ${plan.plan_id} applies exactly this.`

/** Refused before there was a plan, or while it was carried out: either way nothing was changed. */
async function tellRefusal(talk: Talk, error: EscapementError, { placeOf }: ReadYaml): Promise<ExitCode> {
  const style = complaining(talk)
  const title = style.red(error.title ?? 'Refused')
  const lines = [`${title}:`, ...flawLines(error.errors, placeOf, style), '  Nothing was changed.']
  await write(talk.terminal.stderr, `${lines.join('\n')}\n`)
  return EXIT.refused
}

const complaining = ({ terminal, environment }: Talk): Style =>
  createStyle(environment.colours && isTerminal(terminal.stderr))
