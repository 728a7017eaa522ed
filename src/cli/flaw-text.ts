import type { Flaw } from '../domain/input.ts'

/** A flaw for a terminal: what is wrong, a caret under the fault where its place is known, and what is allowed. */
export function pointAtFlaw(flaw: Flaw): string {
  const lines = flaw.position === undefined ? [plainly(flaw)] : withCaret(flaw, flaw.position)
  if (flaw.allowed !== undefined) lines.push(`  allowed: ${flaw.allowed}`)
  return `${lines.join('\n')}\n`
}

const plainly = (flaw: Flaw): string => `${flaw.field} ${JSON.stringify(flaw.value)} ${flaw.message}`

function withCaret(flaw: Flaw, position: number): string[] {
  // Anything that is not one column wide would move the caret away from what it points at.
  const text = String(flaw.value).replaceAll(/\p{Cc}/gu, ' ')
  return [`${flaw.field}: ${flaw.message}`, `  ${text}`, `  ${' '.repeat(position)}^ position ${position + 1}`]
}
