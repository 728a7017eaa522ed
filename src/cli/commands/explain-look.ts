import type {
  Explained,
  ExplainFinding,
  ExplainLink,
  ExplainNext,
  ExplainPolicy,
  ExplainStep,
  Explanation,
} from '../../features/explain/schema.ts'
import { largest } from '../../domain/long-lists.ts'
import { explainWhy, REASONS, type Why } from '../../domain/reasons.ts'
import { paintState, type Style } from '../output/style.ts'
import { renderFacts } from '../output/table.ts'
import { oneLine, valueText } from '../output/text.ts'
import { momentText } from '../output/times.ts'
import { printJson, type Facts } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'

/** The sentence of a reason; the reason itself where this version does not know it. */
export const whySentence = (why: Why): string => (why.reason in REASONS ? oneLine(explainWhy(why)) : why.reason)

interface Reason extends Pick<Explained, 'sentence' | 'policy'> {
  readonly reason: string
  readonly evidence: Readonly<Record<string, unknown>>
}

/** A reason with its sentence, its rule and what was looked at. */
export const whyFacts = (why: Reason): Facts => [
  ['why', oneLine(why.sentence)],
  ['rule', ruleText(why.policy)],
  ['reason', why.reason],
  ...Object.entries(why.evidence).map(([name, value]) => [`  ${oneLine(name)}`, oneLine(valueText(value))] as const),
]

const ruleText = ({ name, value, documentation }: ExplainPolicy): string =>
  oneLine(`${name}${value === null ? '' : ` = ${value}`}, see ${documentation}`)

/** Shows the explanation of one thing: the facts, every question on its way, what it leads to, and what can be done. */
export async function showExplained(talk: Talk, explained: Explained, facts: () => Facts): Promise<void> {
  if (talk.json) {
    await printJson(talk, explained)
    return
  }
  await talk.print(renderFacts(facts(), talk))
  await talk.print(
    [...stepLines(explained.steps, talk.style), ...linkLines(explained.links, talk), ...nextLines(explained.next, talk)]
      .map((line) => `${line}\n`)
      .join(''),
  )
}

const MARKS = {
  passed: { mark: '✓', paint: 'green' },
  closed: { mark: '✗', paint: 'red' },
  not_reached: { mark: '·', paint: 'dim' },
} as const

/** Steps of one stage that have nothing to say stand in one line. */
function stepLines(steps: readonly ExplainStep[], style: Style): readonly string[] {
  const lines: { stage: string; state: ExplainStep['state']; names: string[]; sentence: string | null }[] = []
  for (const { stage, state, name, sentence } of steps) {
    const last = lines.at(-1)
    const joins = last?.stage === stage && last.state === state && last.sentence === null && sentence === null
    if (joins) last.names.push(name)
    else lines.push({ stage, state, names: [name], sentence })
  }
  if (lines.length === 0) return []
  return [
    '',
    style.bold('On its way'),
    ...lines.map(({ stage, state, names, sentence }) => {
      const { mark, paint } = MARKS[state]
      const told = sentence === null ? '' : `: ${oneLine(sentence)}`
      return `  ${style[paint](mark)} ${stage.padEnd(10)} ${oneLine(names.join(', '))}${told}`
    }),
  ]
}

function linkLines(links: readonly ExplainLink[], { style, url }: Talk): readonly string[] {
  if (links.length === 0) return []
  const width = largest(links.map(({ role }) => role.length))
  return [
    '',
    style.bold('See'),
    ...links.map(({ role, console }) => `  ${oneLine(role).padEnd(width)}  ${style.dim(url)}${oneLine(console)}`),
  ]
}

function nextLines({ sentence, actions }: ExplainNext, { style }: Talk): readonly string[] {
  return [
    '',
    `${style.bold('→')} ${oneLine(sentence)}`,
    ...actions.map(({ command, sentence: told }) => `  ${oneLine(command)}  ${style.dim(oneLine(told))}`),
  ]
}

/** Shows the answer to "why?". */
export async function showExplanation(talk: Talk, answer: Explanation): Promise<void> {
  if (talk.json) {
    await printJson(talk, answer)
    return
  }
  const { next, looked_at: looked } = answer
  const lines = [
    talk.style.bold(oneLine(answer.sentence)),
    ...(answer.asked.at === null ? thingLines(answer, talk) : momentLines(answer, talk)),
    ...(next === null ? [] : nextLines(next, talk)),
  ]
  if (looked !== null && !looked.complete) lines.push('', talk.style.yellow(MORE))
  await talk.print(lines.map((line) => `${line}\n`).join(''))
}

const MORE = 'There was more than is looked at: name a schedule, an agent or a session, or a shorter time.'

/** Of one thing everything is told. */
function thingLines({ findings, steps }: Explanation, talk: Talk): readonly string[] {
  const [first, ...more] = findings
  if (first === undefined) return []
  const status: Facts = first.status === null ? [] : [['status', paintState(talk.style, first.status)]]
  return [
    '',
    renderFacts([...status, ...whyFacts(first)], talk).trimEnd(),
    ...more.flatMap((finding) => findingLines(finding, talk)),
    ...stepLines(steps, talk.style),
    ...linkLines(first.links, talk),
  ]
}

/** Around a moment there may be much: each in a few lines, the most telling, which the headline says, first. */
function momentLines({ asked, findings, nearest }: Explanation, talk: Talk): readonly string[] {
  const { style, terminal } = talk
  const [first, ...more] = findings
  const when = asked.at === null ? '' : momentText(asked.at, terminal.now())
  const planned = [
    ['Before it', nearest?.before],
    ['After it', nearest?.after],
  ] as const
  return [
    ...(first === undefined ? [] : detailLines(first, talk)),
    style.dim(`  asked about ${asked.local ?? ''} in ${asked.timezone ?? ''}: ${when}`),
    ...(more.length === 0 ? [] : ['', style.bold('Also found')]),
    ...more.flatMap((finding) => findingLines(finding, talk)),
    '',
    ...planned.flatMap(([word, moment]) =>
      moment === null || moment === undefined
        ? []
        : [`${word.padEnd(9)}  ${oneLine(moment.name)}, ${momentText(moment.at, terminal.now())}`],
    ),
  ]
}

const findingLines = (finding: ExplainFinding, talk: Talk): readonly string[] => [
  `${talk.style.cyan('•')} ${oneLine(finding.sentence)}`,
  ...detailLines(finding, talk),
]

function detailLines({ policy, at, links }: ExplainFinding, { style, terminal, url }: Talk): readonly string[] {
  const [door] = links
  return [
    `  ${style.dim(ruleText(policy))}`,
    ...(at === null ? [] : [`  ${style.dim(`at ${momentText(at, terminal.now())}`)}`]),
    ...(door === undefined ? [] : [`  ${style.dim(`${url}${oneLine(door.console)}`)}`]),
  ]
}
