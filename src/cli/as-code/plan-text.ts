import type { AsCodeAction, PlannedChange, PlannedItem, PlanView } from '../../features/as-code/schema.ts'
import type { Style } from '../output/style.ts'
import { cutTo, oneLine, valueText } from '../output/text.ts'

/** How a plan is shown: in colours or not, and to how many columns its values are cut; null: not at all. */
export interface PlanLook {
  readonly style: Style
  readonly width: number | null
}

const SIGNS: Readonly<Partial<Record<AsCodeAction, string>>> = { create: '+', update: '~', delete: '-' }

/** How many things that are in no file are named; the others are counted. */
const MOST_NAMED = 5

/** A plan, or what was done, for people: a line for each thing that changes, and what is left alone in numbers. */
export function planLines(plan: PlanView, look: PlanLook): readonly string[] {
  const lines = plan.items.flatMap((item) => itemLines(item, look))
  const { unchanged, unmanaged } = plan.counts
  if (unchanged > 0) lines.push(look.style.dim(`= ${unchanged} unchanged`))
  if (unmanaged > 0) lines.push(look.style.yellow(`? ${unmanagedText(plan)}`))
  return lines
}

/** How much there is to do, or was done. */
export function planTotals({ applied, counts }: PlanView): string {
  const [made, changed, deleted] = [counts.create, counts.update, counts.delete]
  return applied
    ? `Applied: ${made} created, ${changed} changed, ${deleted} deleted.`
    : `Plan: ${made} to create, ${changed} to change, ${deleted} to delete.`
}

/** Whether carrying it out would change anything. */
export const isWork = ({ counts }: PlanView): boolean => counts.create + counts.update + counts.delete > 0

function unmanagedText({ items, counts }: PlanView): string {
  const names = items
    .filter(({ action }) => action === 'unmanaged')
    .slice(0, MOST_NAMED)
    .map(({ kind, name }) => `${kind} ${oneLine(name)}`)
  const more = counts.unmanaged > names.length ? ', …' : ''
  return `${counts.unmanaged} stored here and not in the file: ${names.join(', ')}${more}`
}

function itemLines({ kind, name, action, changes }: PlannedItem, { style, width }: PlanLook): readonly string[] {
  const sign = SIGNS[action]
  if (sign === undefined) return []
  const paint = { create: style.green, update: style.yellow, delete: style.red }[action as 'create']
  const head = `${paint(sign)} ${kind} ${style.bold(oneLine(name))}`
  if (action !== 'update') return [head]
  const texts = changes.map((change) => changeText(change, width))
  return texts.length === 1 ? [`${head}  ${texts.join('')}`] : [head, ...texts.map((text) => `    ${text}`)]
}

/** `cron: 0 9 * * * → 0 8 * * *`. */
function changeText({ field, before, after }: PlannedChange, width: number | null): string {
  const room = width === null ? Number.POSITIVE_INFINITY : Math.max(16, Math.floor((width - field.length - 10) / 2))
  return `${field}: ${shown(before, room)} → ${shown(after, room)}`
}

const shown = (value: unknown, room: number): string => {
  const text = typeof value === 'string' && /[\r\n]/.test(value) ? JSON.stringify(value) : valueText(value)
  return Number.isFinite(room) ? cutTo(oneLine(text), room) : oneLine(text)
}
