import { Kbd, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import type { PlainKey } from '../texts/fill.ts'
import { useSay } from '../texts/TextProvider.tsx'

type Keys = readonly (readonly [keys: readonly string[], text: PlainKey])[]

const SECTIONS: readonly (readonly [heading: PlainKey, keys: Keys])[] = [
  [
    'shortcuts.everywhere',
    [
      [['⌘/Ctrl', 'K'], 'shortcuts.palette'],
      [['?'], 'shortcuts.help'],
      [['w'], 'nav.explain'],
      [['g', 'o'], 'shortcuts.goOverview'],
      [['g', 's'], 'shortcuts.goSchedules'],
      [['g', 'r'], 'shortcuts.goRuns'],
      [['g', 'c'], 'shortcuts.goChat'],
    ],
  ],
  [
    'shortcuts.lists',
    [
      [['j'], 'shortcuts.next'],
      [['k'], 'shortcuts.previous'],
      [['x'], 'shortcuts.select'],
      [['o'], 'shortcuts.open'],
      [['r'], 'shortcuts.run'],
      [['e'], 'shortcuts.edit'],
      [['c'], 'shortcuts.create'],
      [['/'], 'shortcuts.search'],
    ],
  ],
  [
    'shortcuts.ribbon',
    [
      [['←', '→'], 'shortcuts.pan'],
      [['+', '−'], 'shortcuts.zoom'],
      [['0'], 'shortcuts.now'],
      [['n', 'p'], 'shortcuts.item'],
    ],
  ],
]

interface ShortcutHelpProps {
  readonly isOpen: boolean
  readonly close: () => void
}

/** Every key that does something, in one place. */
export function ShortcutHelp({ isOpen, close }: ShortcutHelpProps): ReactNode {
  const say = useSay()
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={say('shortcuts.title')}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      {SECTIONS.map(([heading, keys]) => (
        <section key={heading} className="keys">
          <h3>{say(heading)}</h3>
          <dl>
            {keys.map(([pressed, text]) => (
              <div key={text}>
                <dt>
                  {pressed.map((key) => (
                    <Kbd key={key} size="xs">
                      {key}
                    </Kbd>
                  ))}
                </dt>
                <dd>{say(text)}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Modal>
  )
}
