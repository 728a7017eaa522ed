import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** A line that exceeded the limit; its text is not kept. */
export const TOO_LONG = Symbol('too long')

export type Line = string | typeof TOO_LONG

/**
 * Splits a stream into lines and yields them in the portions in which they arrive, so that a program on the other side
 * of two pipes gets its answers without having to close its end first. Memory stays bounded whatever comes in.
 */
export async function* linesOf(input: Readable, longestLine: number): AsyncGenerator<readonly Line[]> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let overflowing = false
  for await (const chunk of input) {
    const pieces = (rest + (typeof chunk === 'string' ? chunk : decoder.write(chunk as Buffer))).split('\n')
    rest = pieces.pop() ?? ''
    const lines = pieces.map((piece, index) =>
      (index === 0 && overflowing) || piece.length > longestLine ? TOO_LONG : withoutReturn(piece),
    )
    if (pieces.length > 0) overflowing = false
    if (rest.length > longestLine) {
      overflowing = true
      rest = ''
    }
    if (lines.length > 0) yield lines
  }
  rest += decoder.end()
  if (overflowing || rest.length > longestLine) yield [TOO_LONG]
  else if (rest !== '') yield [withoutReturn(rest)]
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)
