import { useEffect, type ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'

interface PageHeadProps {
  readonly title: string
  /** Below the title: what there is to say about all of it. */
  readonly lead?: ReactNode
  /** On the right: what can be done. */
  readonly actions?: ReactNode
}

/** The head of a page, which is also what the window is called. */
export function PageHead({ title, lead, actions }: PageHeadProps): ReactNode {
  const say = useSay()
  const name = say('app.name')
  useEffect(() => {
    document.title = `${title} · ${name}`
  }, [title, name])
  return (
    <header className="page-head">
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <div className="page-lead">{lead}</div>}
      </div>
      {actions !== undefined && <div className="page-actions">{actions}</div>}
    </header>
  )
}
