import { Link, useParams } from '@tanstack/react-router'
import { Suspense, type ReactNode } from 'react'
import { useIsOperator, useMe } from '../../api/session.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { SECTIONS, type SectionName } from './sections.ts'
import './settings.css'

/** Everything that is set rather than done: a section at a time, each with an address. */
export function SettingsPage(): ReactNode {
  const say = useSay()
  const { section: name } = useParams({ from: '/shell/settings/$section' })
  const me = useMe()
  const isOperator = useIsOperator()
  const names = (Object.keys(SECTIONS) as SectionName[]).filter((one) => {
    const { permission, operatorOnly = false } = SECTIONS[one]
    return me?.permissions.includes(permission) === true && (isOperator || !operatorOnly)
  })
  const shown = names.find((one) => one === name)
  const section = shown === undefined ? undefined : SECTIONS[shown]
  return (
    <>
      <PageHead
        title={say('settings.title')}
        lead={me === undefined ? ' ' : say('settings.lead', { org: me.org.name })}
      />
      <nav className="sections" aria-label={say('settings.sections')}>
        {names.map((one) => (
          <Link key={one} to="/settings/$section" params={{ section: one }} className="section-link">
            {say(`settings.${one}`)}
          </Link>
        ))}
      </nav>
      {section === undefined ? (
        <EmptyState
          {...(name in SECTIONS
            ? { title: say('form.lacking'), text: say('form.operatorsText') }
            : { title: say('error.notFound'), text: say('error.notFoundHint') })}
        />
      ) : (
        <Suspense key={name} fallback={<Lines count={6} height={24} />}>
          <section.component />
        </Suspense>
      )}
    </>
  )
}
