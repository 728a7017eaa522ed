import { IconChevronRight } from '@tabler/icons-react'
import { createContext, useContext, useState, type ReactNode } from 'react'
import { useSay } from '../../texts/TextProvider.tsx'
import { Copyable } from '../Copyable.tsx'
import { Marked } from './Marked.tsx'
import './content.css'

/** Levels that are open at first. */
const OPEN_DEPTH = 2
/** Children shown at first, so that a list of thousands does not hold up the page. */
const CHILDREN = 100

const Query = createContext('')

interface JsonTreeProps {
  readonly value: unknown
  readonly label: string
  /** Opens what contains it, and marks it. */
  readonly query: string
}

/** JSON as a tree: parts fold, have their size, and are copied with their path. */
export function JsonTree({ value, label, query }: JsonTreeProps): ReactNode {
  return (
    <Query.Provider value={query.toLowerCase()}>
      <ul className="json-tree" aria-label={label}>
        <Node {...{ name: null, value, path: '$', depth: 0 }} />
      </ul>
    </Query.Provider>
  )
}

/** How often a text is found in names and values. */
export function countMatches(value: unknown, query: string): number {
  const wanted = query.toLowerCase()
  if (wanted === '') return 0
  const matches = (text: string): number => (text.toLowerCase().includes(wanted) ? 1 : 0)
  const count = (part: unknown): number =>
    isBranch(part)
      ? childrenOf(part).reduce(
          (sum, [name, child]) => sum + (Array.isArray(part) ? 0 : matches(name)) + count(child),
          0,
        )
      : matches(leafText(part))
  return count(value)
}

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null

const childrenOf = (value: object): readonly (readonly [string, unknown])[] => Object.entries(value)

const leafText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

interface NodeProps {
  readonly name: string | null
  readonly value: unknown
  readonly path: string
  readonly depth: number
}

function Node(props: NodeProps): ReactNode {
  return <li>{isBranch(props.value) ? <Branch {...props} value={props.value} /> : <Leaf {...props} />}</li>
}

function Name({ name }: Pick<NodeProps, 'name'>): ReactNode {
  const query = useContext(Query)
  if (name === null) return null
  return (
    <span className="json-name">
      <Marked text={name} query={query} />:
    </span>
  )
}

function Leaf({ name, value, path }: NodeProps): ReactNode {
  const query = useContext(Query)
  const kind = value === null ? 'null' : typeof value
  return (
    <span className="json-row">
      <Name name={name} />
      <span className="json-leaf" data-kind={kind} title={path}>
        <Marked text={kind === 'string' ? JSON.stringify(value) : leafText(value)} query={query} />
      </span>
      <Copyable text={leafText(value)} name={path} />
    </span>
  )
}

function Branch({ name, value, path, depth }: NodeProps & { readonly value: object }): ReactNode {
  const say = useSay()
  const query = useContext(Query)
  const [chosen, choose] = useState<boolean | null>(null)
  const [shown, show] = useState(CHILDREN)
  const isList = Array.isArray(value)
  const children = childrenOf(value)
  const found = query === '' ? 0 : countMatches(value, query)
  const isOpen = chosen ?? (query === '' ? depth < OPEN_DEPTH : found > 0)
  const pathOf = (key: string): string => (isList ? `${path}[${key}]` : `${path}.${key}`)
  return (
    <>
      <span className="json-row">
        <button type="button" className="json-twist" aria-expanded={isOpen} onClick={() => choose(!isOpen)}>
          <IconChevronRight size={13} aria-hidden data-open={isOpen} />
          <Name name={name} />
          <span className="json-size">
            {isList ? '[' : '{'}
            {say('content.size', { count: children.length })}
            {isList ? ']' : '}'}
          </span>
        </button>
        <Copyable text={JSON.stringify(value, null, 2)} name={path} />
      </span>
      {isOpen && (
        <ul>
          {children.slice(0, query === '' ? shown : undefined).map(([key, child]) => (
            <Node key={key} {...{ name: key, value: child, path: pathOf(key), depth: depth + 1 }} />
          ))}
          {query === '' && children.length > shown && (
            <li>
              <button type="button" className="json-more door door-seen" onClick={() => show(shown + 10 * CHILDREN)}>
                {say('content.more', { count: children.length - shown })}
              </button>
            </li>
          )}
        </ul>
      )}
    </>
  )
}
