import { lazy, Suspense, type ReactNode } from 'react'

// The library that reads Markdown is loaded with the first text that has any.
const Markdown = lazy(async () => ({ default: (await import('./Markdown.tsx')).Markdown }))

/** Whether a text is more than plain words: a heading, a list, code, a table, a link or emphasis. */
export const looksLikeMarkdown = (text: string): boolean =>
  /^(?:#{1,6} |\s*[-*+] |\s*\d+[.)] |```|~~~|> |\|.*\|)|\*\*[^*\n]+\*\*|`[^`\n]+`|\[[^\]\n]+\]\([^)\s]+\)/m.test(text)

/** A text with its Markdown, as plain text until that is loaded. */
export function FormattedText({ text }: { readonly text: string }): ReactNode {
  return (
    <Suspense fallback={text}>
      <Markdown text={text} />
    </Suspense>
  )
}
