import { Document, isCollection, isMap, isSeq, Scalar, visit } from 'yaml'

export interface Written {
  /** Lines above everything, without the sign in front. */
  readonly comment?: readonly string[]
}

/**
 * Writes a document so that people like to read it and reading it again gives exactly the same: texts of several lines as
 * such, no line folded, no aliases, an empty line between lists and between their items. Texts that older readers of YAML would take
 * for something else are quoted.
 */
export function writeYaml(value: Readonly<Record<string, unknown>>, { comment = [] }: Written = {}): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1', version: '1.2' })
  setApart(document)
  quoteByteOrderMarks(document)
  const head = comment.map((line) => `# ${line}\n`).join('')
  return `${head}${document.toString({ lineWidth: 0, blockQuote: 'literal', indentSeq: true })}`
}

function setApart({ contents }: Document): void {
  if (!isMap(contents)) return
  for (const { key, value } of contents.items) {
    if (!isSeq(value)) continue
    if (isSpaced(key)) key.spaceBefore = true
    for (const item of value.items.slice(1)) if (isCollection(item)) item.spaceBefore = true
  }
}

/** At the beginning of a line a byte order mark is read as the start of a document; inside quotes it is text. */
function quoteByteOrderMarks(document: Document): void {
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && node.value.startsWith('\ufeff')) node.type = Scalar.QUOTE_DOUBLE
    },
  })
}

const isSpaced = (key: unknown): key is { spaceBefore?: boolean } => typeof key === 'object' && key !== null
