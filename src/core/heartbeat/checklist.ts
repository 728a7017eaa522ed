/**
 * Whether a checklist asks for anything. A file that an editor or a template left behind (headings, empty boxes,
 * comments) must not cost a model call; anything a reader would see as text must.
 *
 * It follows the block structure of Markdown as far as that question needs, one line after another and without looking
 * back, so that the time it takes grows only with the length of the text.
 */
type Place =
  | { readonly kind: 'text' }
  /** An HTML comment that has not been closed. */
  | { readonly kind: 'comment' }
  | { readonly kind: 'fence'; readonly mark: string }

const TEXT: Place = { kind: 'text' }
const COMMENT_START = '<!--'
const COMMENT_END = '-->'

// Invisible characters are as blank as spaces; editors and chat programs leave them behind.
const BLANK = /^[\s\u00ad\u200b-\u200d\u2060]*$/
const FENCE = /^\s*(`{3,}(?=[^`]*$)|~{3,})/
const HEADING = /^\s*#{1,6}(?:\s|$)/
const RULE = /^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+\s*)$/
/** One bullet, number, quotation mark or check box, ticked or not, at the beginning of what is left of a line. */
const ITEM_MARK = /^\s*(?:>|(?:[-*+]|\d{1,9}[.)]|\[[ xX]?\])(?=\s|$|[>[]))/
/** The line above is a heading. Dashes are not read like this: more people mean a rule by them than a heading. */
const UNDERLINE = /^\s*=+\s*$/

/** Whether there is anything to check: text other than headings, empty items, comments, rules and bare fences. */
export function hasMeaningfulContent(text: string): boolean {
  let place: Place = TEXT
  const lines = text.split(/\r\n|\n|\r/)
  for (const [index, line] of lines.entries()) {
    // An empty line says nothing and ends nothing that this question needs.
    if (line === '') continue
    const read = readLine(line, place)
    const isHeading = place.kind === 'text' && read.place.kind === 'text' && UNDERLINE.test(lines[index + 1] ?? '')
    if (read.isMeaningful && !isHeading) return true
    place = read.place
  }
  return false
}

interface Line {
  readonly isMeaningful: boolean
  readonly place: Place
}

function readLine(line: string, place: Place): Line {
  if (place.kind === 'fence') {
    return closesFence(line, place.mark) ? nothing(TEXT) : { isMeaningful: !BLANK.test(line), place }
  }
  const visible = withoutComments(line, place.kind === 'comment')
  const rest = visible.isOpen ? { kind: 'comment' as const } : TEXT
  if (HEADING.test(visible.text) || RULE.test(visible.text)) return nothing(rest)
  const item = withoutItemMarks(visible.text)
  const fence = FENCE.exec(item)?.[1]
  if (fence !== undefined) return nothing({ kind: 'fence', mark: fence })
  if (BLANK.test(item) || HEADING.test(item)) return nothing(rest)
  return { isMeaningful: true, place: rest }
}

const nothing = (place: Place): Line => ({ isMeaningful: false, place })

function closesFence(line: string, mark: string): boolean {
  const shown = line.trim()
  return shown.length >= mark.length && shown === mark.charAt(0).repeat(shown.length)
}

/** The line as a reader sees it. A comment that is never closed hides the rest of the text, as it does in a browser. */
function withoutComments(line: string, isInComment: boolean): { readonly text: string; readonly isOpen: boolean } {
  const shown: string[] = []
  let from = 0
  let isOpen = isInComment
  for (;;) {
    const found = line.indexOf(isOpen ? COMMENT_END : COMMENT_START, from)
    if (!isOpen) shown.push(line.slice(from, found === -1 ? line.length : found))
    if (found === -1) return { text: shown.join(''), isOpen }
    from = found + (isOpen ? COMMENT_END.length : COMMENT_START.length)
    isOpen = !isOpen
  }
}

function withoutItemMarks(line: string): string {
  let rest = line
  for (let mark = ITEM_MARK.exec(rest); mark !== null; mark = ITEM_MARK.exec(rest)) rest = rest.slice(mark[0].length)
  return rest
}
