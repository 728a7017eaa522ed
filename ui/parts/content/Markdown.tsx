import { marked, type Token, type Tokens } from 'marked'
import type { ReactNode } from 'react'
import './content.css'

/**
 * Markdown as elements. The library only reads: nothing of the text becomes HTML, so it can run no script. Images are
 * links, because loading one tells its server who reads.
 */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  return <div className="markdown">{blocks(marked.lexer(text, { gfm: true, breaks: true }))}</div>
}

const blocks = (tokens: readonly Token[]): ReactNode =>
  tokens.map((token, index) => <Block key={index} token={token} />)

const inline = (tokens: readonly Token[] | undefined, otherwise = ''): ReactNode =>
  tokens === undefined ? plain(otherwise) : tokens.map((token, index) => <Inline key={index} token={token} />)

/** Headings begin below those of the page. */
const HEADINGS = ['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const

function Block({ token }: { readonly token: Token }): ReactNode {
  const known = token as Tokens.Generic
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'hr':
      return <hr />
    case 'heading': {
      const Heading = HEADINGS[(known['depth'] as number) - 1] ?? 'h6'
      return <Heading>{inline(token.tokens)}</Heading>
    }
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>
    case 'code':
      return (
        <pre tabIndex={0}>
          <code>{known['text'] as string}</code>
        </pre>
      )
    case 'blockquote':
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>
    case 'list':
      return <List list={token as Tokens.List} />
    case 'table':
      return <Table table={token as Tokens.Table} />
    default:
      return known.tokens === undefined ? <p>{plain(token.raw)}</p> : <>{inline(known.tokens)}</>
  }
}

function List({ list }: { readonly list: Tokens.List }): ReactNode {
  const items = list.items.map((item, index) => (
    <li key={index} data-task={item.task}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label={item.text} />}
      {blocks(item.tokens.filter(({ type }) => type !== 'checkbox'))}
    </li>
  ))
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table({ table }: { readonly table: Tokens.Table }): ReactNode {
  return (
    <div className="markdown-table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index}>{inline(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at}>{inline(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Inline({ token }: { readonly token: Token }): ReactNode {
  const known = token as Tokens.Generic
  const text = typeof known['text'] === 'string' ? known['text'] : token.raw
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens, text)}</strong>
    case 'em':
      return <em>{inline(token.tokens, text)}</em>
    case 'del':
      return <del>{inline(token.tokens, text)}</del>
    case 'codespan':
      return <code>{text}</code>
    case 'br':
      return <br />
    case 'escape':
      return text
    case 'link':
      return <Link url={known['href'] as string}>{inline(token.tokens, text)}</Link>
    case 'image':
      return <Link url={known['href'] as string}>{text === '' ? (known['href'] as string) : text}</Link>
    case 'html':
      return token.raw
    default:
      return inline(known.tokens, text)
  }
}

/** Only addresses that open a page or a mail; anything else stays text. */
function Link({ url, children }: { readonly url: string; readonly children: ReactNode }): ReactNode {
  if (!/^(?:https?:|mailto:)/i.test(url)) return <span title={url}>{children}</span>
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" className="door door-seen">
      {children}
    </a>
  )
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', mdash: '—', ndash: '–', hellip: '…' },
}

/** A text whose character references are the characters. */
const plain = (text: string): string => text.replaceAll(/&(?:#\d{1,6}|#x[\da-f]{1,6}|\w+);/gi, characterOf)

function characterOf(reference: string): string {
  const name = reference.slice(1, -1)
  if (!name.startsWith('#')) return ENTITIES[name] ?? reference
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : reference
}
