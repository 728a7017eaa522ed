import type { Writable } from 'node:stream'

type Paint = (text: string) => string

/** Colors of terminal output; without colors, every function returns its text unchanged. */
export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
}

const paint =
  (isOn: boolean, on: number, off: number): Paint =>
  (text) =>
    isOn && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text

/** A style with or without colors. */
export const createStyle = (isOn: boolean): Style => ({
  bold: paint(isOn, 1, 22),
  dim: paint(isOn, 2, 22),
  red: paint(isOn, 31, 39),
  green: paint(isOn, 32, 39),
  yellow: paint(isOn, 33, 39),
  cyan: paint(isOn, 36, 39),
})

/** Colors the state of a run, schedule, key, attempt and so on. */
export function paintState(style: Style, state: string): string {
  if (['success', 'done', 'active', 'alive', 'ok', 'up', 'delivered'].includes(state)) return style.green(state)
  if (['failed', 'timeout', 'rejected', 'revoked', 'away', 'gone'].includes(state)) return style.red(state)
  if (['assigned', 'running', 'awaiting_callback', 'stopping'].includes(state)) return style.cyan(state)
  if (
    ['queued', 'waiting', 'paused', 'pending_approval', 'dropped', 'expired', 'draining', 'pending', 'held'].includes(
      state,
    )
  )
    return style.yellow(state)
  return style.dim(state)
}

/** Columns of the terminal; null: the output is not a terminal. */
export function widthOf(stream: Writable): number | null {
  if (!('isTTY' in stream) || stream.isTTY !== true) return null
  return 'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0 ? stream.columns : 80
}
