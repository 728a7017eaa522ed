import type { ReactNode } from 'react'

const HEAD = /^[a-z]+_/
const TAIL = 6

/** An id as people can tell it from others: what it is, and its end. The whole of it is on hover. */
export function ShortId({ id }: { readonly id: string }): ReactNode {
  const head = HEAD.exec(id)?.[0] ?? ''
  return (
    <code className="short-id" title={id}>
      {id.length - head.length > TAIL + 2 ? `${head}…${id.slice(-TAIL)}` : id}
    </code>
  )
}
