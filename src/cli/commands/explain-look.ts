import type {
  Explained,
  ExplainFinding,
  ExplainLink,
  ExplainNext,
  ExplainPolicy,
  ExplainStep,
  Explanation,
} from '../../contract/explain.ts'
import { explainWhy, REASONS, type Why } from '../../core/reasons.ts'
import type { Style } from '../output/style.ts'
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
  const width = Math.max(...links.map(({ role }) => role.length))
  return [
    '',
    style.bold('See'),
    ...links.map(({ role, console }) => `  ${oneLine(role).padEnd(width)}  ${style.dim(url)}${oneLine(console)}`),
  ]
}

function nextLines({ sentence, actions }: ExplainNext, { style }: Talk): readonly string[] {
  return [
    '',
    `${style.bold('Next')}  ${oneLine(sentence)}`,
    ...actions.map(({ command, sentence: told }) => `  ${oneLine(command)}  ${style.dim(oneLine(told))}`),
  ]
}

/** Shows the answer to "why?". */
export async function showExplanation(talk: Talk, answer: Explanation): Promise<void> {
  if (talk.json) {
    await printJson(talk, answer)
    return
  }
  const { asked, findings, steps, next, nearest, looked_at: looked } = answer
  const { style, terminal } = talk
  const [first] = findings
  const lines = [style.bold(oneLine(answer.sentence))]
  if (asked.at !== null)
    lines.push(
      style.dim(`Asked about ${asked.local ?? ''} (${asked.timezone ?? ''}), ${momentText(asked.at, terminal.now())}.`),
    )
  // Of one thing that was found everything is told; of many, each in a few lines.
  if (asked.at === null && findings.length === 1 && first !== undefined)
    lines.push(
      '',
      renderFacts(whyFacts(first), talk).trimEnd(),
      ...stepLines(steps, style),
      ...linkLines(first.links, talk),
    )
  else lines.push('', ...findings.flatMap((finding) => findingLines(finding, talk)))
  for (const [word, planned] of [
    ['Before it', nearest?.before],
    ['After it', nearest?.after],
  ] as const)
    if (planned !== null && planned !== undefined)
      lines.push(
        `${word}: ${oneLine(planned.name)} (${planned.schedule_id}), ${momentText(planned.at, terminal.now())}`,
      )
  if (next !== null) lines.push(...nextLines(next, talk))
  if (looked !== null && !looked.complete)
    lines.push(
      '',
      style.yellow('There was more than is looked at: name a schedule, an agent or a session, or a shorter time.'),
    )
  await talk.print(lines.map((line) => `${line}\n`).join(''))
}

function findingLines(
  { sentence, policy, at, links }: ExplainFinding,
  { style, terminal, url }: Talk,
): readonly string[] {
  const [door] = links
  const when = at === null ? [] : [momentText(at, terminal.now())]
  return [
    `${style.cyan('•')} ${oneLine(sentence)}`,
    `  ${style.dim([...when, ruleText(policy)].join(' · '))}`,
    ...(door === undefined ? [] : [`  ${style.dim(`${url}${oneLine(door.console)}`)}`]),
  ]
}
