import { textOf, trackedFiles } from '../tracked-files.ts'

/** What stands between two fences of a document. */
export interface Block {
  readonly document: string
  /** Line of the opening fence. */
  readonly line: number
  /** First word after the fence: `sh`, `json`. */
  readonly kind: string
  /** The other words: `run`, `file=jobs.json`. */
  readonly marks: readonly string[]
  readonly text: string
}

/** A word of code within a sentence. */
export interface InlineCode {
  readonly document: string
  readonly line: number
  readonly text: string
}

const FENCE = /^( *)(`{3,})([^\n`]*)\n([^]*?)^\1\2 *$/gm

/** Every Markdown document of the repository. */
export const documents = (): readonly string[] => trackedFiles().filter((file) => file.endsWith('.md'))

/** Tells the line of one place after the other: the reference is long, and counting from its beginning each time took seconds. */
function linesOf(text: string): (offset: number) => number {
  let line = 1
  let at = 0
  return (offset) => {
    for (; at < offset; at += 1) if (text[at] === '\n') line += 1
    return line
  }
}

/** The blocks of a document, in their order. */
export const blocksOf = (document: string): readonly Block[] => blocksIn(document, textOf(document))

/** The same of a text. */
export function blocksIn(document: string, text: string): readonly Block[] {
  const lineAt = linesOf(text)
  return [...text.matchAll(FENCE)].map(({ index, 1: indent = '', 3: told = '', 4: content = '' }) => {
    const [kind = '', ...marks] = told.trim().split(/\s+/)
    const lines = content.split('\n').map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    return { document, line: lineAt(index), kind, marks, text: lines.join('\n') }
  })
}

/** Code within the sentences of a document; a line break in it counts as a space. */
export const inlineCodeOf = (document: string): readonly InlineCode[] => inlineCodeIn(document, textOf(document))

/** The same of a text. */
export function inlineCodeIn(document: string, text: string): readonly InlineCode[] {
  // As many lines as before, so that what is found can be told with its line.
  const sentences = text.replaceAll(FENCE, (block: string) => block.replaceAll(/[^\n]/g, ''))
  const lineAt = linesOf(sentences)
  return [...sentences.matchAll(/(?<!`)`([^`]+)`(?!`)/g)].map(({ index, 1: code = '' }) => ({
    ...{ document, line: lineAt(index), text: code.replaceAll(/\s+/g, ' ') },
  }))
}
