import { SegmentedControl, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'
import { useSay } from '../../texts/TextProvider.tsx'
import { Copyable } from '../Copyable.tsx'
import { countMatches, JsonTree } from './JsonTree.tsx'
import { FormattedText, looksLikeMarkdown } from './FormattedText.tsx'
import { Marked } from './Marked.tsx'
import { Panel } from '../Panel.tsx'

interface ContentProps {
  readonly title: string
  readonly value: unknown
}

/** Shorter texts are found without a search. */
const SEARCHABLE = 400

type Look = 'formatted' | 'raw'

/** What went into a run or came out of it: Markdown, a tree of JSON or plain text, with copy and search. */
export function Content({ title, value }: ContentProps): ReactNode {
  const say = useSay()
  const [look, setLook] = useState<Look>('formatted')
  const [query, setQuery] = useState('')
  const parsed = typeof value === 'string' ? jsonIn(value) : value
  const isJson = typeof parsed === 'object' && parsed !== null
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const hasLooks = isJson || (typeof value === 'string' && looksLikeMarkdown(value))
  const found = query === '' ? 0 : isJson ? countMatches(parsed, query) : countIn(text, query)
  return (
    <Panel
      title={title}
      className="content-panel"
      aside={
        <div className="content-tools">
          {text.length > SEARCHABLE && (
            <>
              {query !== '' && (
                <span className="quiet small" role="status">
                  {say('content.found', { count: found })}
                </span>
              )}
              <TextInput
                {...{ size: 'xs', value: query, placeholder: say('content.search'), className: 'content-search' }}
                aria-label={say('content.searchIn', { title })}
                leftSection={<IconSearch size={13} aria-hidden />}
                onChange={(event) => setQuery(event.currentTarget.value)}
              />
            </>
          )}
          {hasLooks && (
            <SegmentedControl
              {...{ size: 'xs', value: look, 'aria-label': say('content.look', { title }) }}
              onChange={setLook}
              data={[
                { value: 'formatted', label: say(isJson ? 'content.tree' : 'content.markdown') },
                { value: 'raw', label: say('content.raw') },
              ]}
            />
          )}
          <Copyable text={text} name={title} />
        </div>
      }
    >
      <Body {...{ title, text, query, look, value: isJson ? parsed : null }} />
    </Panel>
  )
}

interface BodyProps {
  readonly title: string
  readonly text: string
  readonly query: string
  readonly look: Look
  /** JSON to show as a tree; null: it is text. */
  readonly value: object | null
}

function Body({ title, text, query, look, value }: BodyProps): ReactNode {
  if (look === 'formatted' && value !== null)
    return (
      <div className="content-body">
        <JsonTree {...{ value, label: title, query }} />
      </div>
    )
  // Marks need the text as it was written.
  if (look === 'formatted' && query === '' && looksLikeMarkdown(text))
    return (
      <div className="content-body" role="region" aria-label={title} tabIndex={0}>
        <FormattedText text={text} />
      </div>
    )
  return (
    <pre className="content-body value" data-kind={value === null ? 'text' : 'json'} tabIndex={0} aria-label={title}>
      <Marked text={text} query={query} />
    </pre>
  )
}

/** The object or list that a text is, if it is one. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

function countIn(text: string, query: string): number {
  const [folded, wanted] = [text.toLowerCase(), query.toLowerCase()]
  let count = 0
  for (let at = folded.indexOf(wanted); at !== -1; at = folded.indexOf(wanted, at + wanted.length)) count += 1
  return count
}
