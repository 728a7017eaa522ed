import { Outlet, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react'
import { listen } from '../api/live.ts'
import { queryClient } from '../api/query-client.ts'
import { readEditorSearch } from '../editor/form/editor-search.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { BottomBar } from './BottomBar.tsx'
import { OfflineBanner } from './OfflineBanner.tsx'
import { Rail } from './Sidebar.tsx'
import { useShortcuts, type Shortcuts } from './shortcuts.ts'
import { TopBar } from './TopBar.tsx'
import { usePlaces } from './use-places.ts'

const EditorDrawer = lazy(async () => ({ default: (await import('../editor/EditorDrawer.tsx')).EditorDrawer }))
const Palette = lazy(async () => ({ default: (await import('./Palette.tsx')).Palette }))
const ShortcutHelp = lazy(async () => ({ default: (await import('./ShortcutHelp.tsx')).ShortcutHelp }))

const NARROW = 'escapement.rail'

/** The frame of every page; it listens to events while the session lasts. */
export function Shell(): ReactNode {
  const say = useSay()
  const navigate = useNavigate()
  const [isNarrow, setNarrow] = useState(() => localStorage.getItem(NARROW) === 'narrow')
  const [open, setOpen] = useState<'palette' | 'help' | null>(null)
  const editor = useSearch({ from: '/shell', select: readEditorSearch, structuralSharing: true })
  useEffect(() => listen(queryClient), [])
  useShortcuts({
    ...usePlaceKeys(),
    'mod+k': () => setOpen('palette'),
    '?': () => setOpen('help'),
    w: () => void navigate({ to: '/automation/why' }),
  })
  const toggle = (): void => {
    localStorage.setItem(NARROW, isNarrow ? 'wide' : 'narrow')
    setNarrow(!isNarrow)
  }
  const close = (): void => setOpen(null)
  return (
    <div className="shell" data-narrow={isNarrow}>
      <a href="#content" className="skip">
        {say('nav.skip')}
      </a>
      <Rail isNarrow={isNarrow} toggle={toggle} />
      <div className="shell-main">
        <TopBar openPalette={() => setOpen('palette')} />
        <OfflineBanner />
        <main id="content" className="content" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <BottomBar />
      <Suspense>
        {editor.edit !== undefined && <EditorDrawer search={editor} />}
        {open === 'palette' && <Palette close={close} openHelp={() => setOpen('help')} />}
        {open === 'help' && <ShortcutHelp isOpen close={close} />}
      </Suspense>
    </div>
  )
}

/** `g` and a letter go to a page. */
function usePlaceKeys(): Shortcuts {
  const navigate = useNavigate()
  const places = usePlaces().flatMap((group) => group.places)
  return Object.fromEntries(
    places.flatMap(({ key, path }) => (key === undefined ? [] : [[`g ${key}`, () => void navigate({ to: path })]])),
  )
}
