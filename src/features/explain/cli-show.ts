import type {
  Explained,
  ExplainFinding,
  ExplainLink,
  ExplainNext,
  ExplainPolicy,
  ExplainStep,
  Explanation,
} from './schema.ts'
import { largest } from '../../domain/long-lists.ts'
import { explainWhy, REASONS, type Why } from '../../domain/reasons.ts'
import { paintState, type Style } from '../../cli/output/style.ts'
import { renderFacts } from '../../cli/output/table.ts'
import { oneLine, valueText } from '../../cli/output/text.ts'
import { cliTimeText } from '../../cli/output/times.ts'
import { printJson, type Facts } from '../../cli/remote/show.ts'
import type { CliCall } from '../../cli/remote/call.ts'

/** The sentence of a reason, or the code of a reason this version does not know. */
export const whySentence = (why: Why): string => (why.reason in REASONS ? oneLine(explainWhy(why)) : why.reason)

interface Reason extends Pick<Explained, 'sentence' | 'policy'> {
  readonly reason: string
  readonly evidence: Readonly<Record<string, unknown>>
}

/** A reason with its sentence, rule and evidence. */
export const whyFacts = (why: Reason): Facts => [
  ['why', oneLine(why.sentence)],
  ['rule', ruleText(why.policy)],
  ['reason', why.reason],
  ...Object.entries(why.evidence).map(([name, value]) => [`  ${oneLine(name)}`, oneLine(valueText(value))] as const),
]

const ruleText = ({ name, value, documentation }: ExplainPolicy): string =>
  oneLine(`${name}${value === null ? '' : ` = ${value}`}, see ${documentation}`)

/** Prints the explanation of one object: facts, steps, links and next actions. */
export async function showExplained(call: CliCall, explained: Explained, facts: () => Facts): Promise<void> {
  if (call.json) {
    await printJson(call, explained)
    return
  }
  await call.print(renderFacts(facts(), call))
  await call.print(
    [...stepLines(explained.steps, call.style), ...linkLines(explained.links, call), ...nextLines(explained.next, call)]
      .map((line) => `${line}\n`)
      .join(''),
  )
}

const MARKS = {
  passed: { mark: '✓', paint: 'green' },
  closed: { mark: '✗', paint: 'red' },
  not_reached: { mark: '·', paint: 'dim' },
} as const

/** Joins steps of one stage and state that have no sentence into one line. */
function stepLines(steps: readonly ExplainStep[], style: Style): readonly string[] {
  const lines: { stage: string; state: ExplainStep['state']; names: string[]; sentence: string | null }[] = []
  for (const { stage, state, name, sentence } of steps) {
    const last = lines.at(-1)
    const isJoined = last?.stage === stage && last.state === state && last.sentence === null && sentence === null
    if (isJoined) last.names.push(name)
    else lines.push({ stage, state, names: [name], sentence })
  }
  if (lines.length === 0) return []
  return [
    '',
    style.bold('Steps'),
    ...lines.map(({ stage, state, names, sentence }) => {
      const { mark: symbol, paint } = MARKS[state]
      const text = sentence === null ? '' : `: ${oneLine(sentence)}`
      return `  ${style[paint](symbol)} ${stage.padEnd(10)} ${oneLine(names.join(', '))}${text}`
    }),
  ]
}

function linkLines(links: readonly ExplainLink[], { style, url }: CliCall): readonly string[] {
  if (links.length === 0) return []
  const width = largest(links.map(({ role }) => role.length))
  return [
    '',
    style.bold('See'),
    ...links.map(({ role, console }) => `  ${oneLine(role).padEnd(width)}  ${style.dim(url)}${oneLine(console)}`),
  ]
}

function nextLines({ sentence, actions }: ExplainNext, { style }: CliCall): readonly string[] {
  return [
    '',
    `${style.bold('→')} ${oneLine(sentence)}`,
    ...actions.map(({ command, sentence: text }) => `  ${oneLine(command)}  ${style.dim(oneLine(text))}`),
  ]
}

/** Prints the answer of `escapement explain`. */
export async function showExplanation(call: CliCall, answer: Explanation): Promise<void> {
  if (call.json) {
    await printJson(call, answer)
    return
  }
  const { next, looked_at: looked } = answer
  const lines = [
    call.style.bold(oneLine(answer.sentence)),
    ...(answer.asked.at === null ? objectLines(answer, call) : occurrenceLines(answer, call)),
    ...(next === null ? [] : nextLines(next, call)),
  ]
  if (looked !== null && !looked.complete) lines.push('', call.style.yellow(CUT_SHORT))
  await call.print(lines.map((line) => `${line}\n`).join(''))
}

const CUT_SHORT =
  'The search was cut short. Narrow it with a schedule, an agent or a session, or a shorter time window.'

/** All details of one object. */
function objectLines({ findings, steps }: Explanation, call: CliCall): readonly string[] {
  const [first, ...more] = findings
  if (first === undefined) return []
  const status: Facts = first.status === null ? [] : [['status', paintState(call.style, first.status)]]
  return [
    '',
    renderFacts([...status, ...whyFacts(first)], call).trimEnd(),
    ...more.flatMap((finding) => findingLines(finding, call)),
    ...stepLines(steps, call.style),
    ...linkLines(first.links, call),
  ]
}

/** The findings around a time in a few lines each; the first one is the headline. */
function occurrenceLines({ asked, findings, nearest }: Explanation, call: CliCall): readonly string[] {
  const { style, terminal } = call
  const [first, ...more] = findings
  const when = asked.at === null ? '' : cliTimeText(asked.at, terminal.now())
  const planned = [
    ['Previous', nearest?.before],
    ['Next', nearest?.after],
  ] as const
  return [
    ...(first === undefined ? [] : detailLines(first, call)),
    style.dim(`  searched around ${asked.local ?? ''} in ${asked.timezone ?? ''}: ${when}`),
    ...(more.length === 0 ? [] : ['', style.bold('Also found')]),
    ...more.flatMap((finding) => findingLines(finding, call)),
    '',
    ...planned.flatMap(([word, occurrence]) =>
      occurrence === null || occurrence === undefined
        ? []
        : [`${word.padEnd(9)}  ${oneLine(occurrence.name)}, ${cliTimeText(occurrence.at, terminal.now())}`],
    ),
  ]
}

const findingLines = (finding: ExplainFinding, call: CliCall): readonly string[] => [
  `${call.style.cyan('•')} ${oneLine(finding.sentence)}`,
  ...detailLines(finding, call),
]

function detailLines({ policy, at, links }: ExplainFinding, { style, terminal, url }: CliCall): readonly string[] {
  const [link] = links
  return [
    `  ${style.dim(ruleText(policy))}`,
    ...(at === null ? [] : [`  ${style.dim(`at ${cliTimeText(at, terminal.now())}`)}`]),
    ...(link === undefined ? [] : [`  ${style.dim(`${url}${oneLine(link.console)}`)}`]),
  ]
}
