import { ActionIcon, Kbd, Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { IconLanguage, IconMoon, IconSearch, IconSun, IconUserCircle } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { signOut, useMe } from '../api/session.ts'
import { LANGUAGE_NAMES, LANGUAGES } from '../texts/catalogue.ts'
import { useSay, useTexts } from '../texts/TextProvider.tsx'
import { LiveMark } from './LiveMark.tsx'

const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent)
const SCHEMES = ['light', 'dark', 'auto'] as const

/** The bar above every page: whose it is, whether it is live, search, theme, language, person. */
export function TopBar({ openPalette }: { readonly openPalette: () => void }): ReactNode {
  const say = useSay()
  const me = useMe()
  return (
    <header className="top-bar">
      <span className="top-org">
        <span className="visually-hidden">{say('top.org')}</span>
        {me?.org.name}
      </span>
      <LiveMark />
      <UnstyledButton className="top-search" onClick={openPalette}>
        <IconSearch size={15} aria-hidden />
        <span className="top-search-word">{say('top.search')}</span>
        <Kbd size="xs" className="top-search-key" aria-hidden>
          {IS_APPLE ? '⌘K' : 'Ctrl K'}
        </Kbd>
      </UnstyledButton>
      <div className="top-tools">
        <ThemeMenu />
        <LanguageMenu />
        <PersonMenu />
      </div>
    </header>
  )
}

function ThemeMenu(): ReactNode {
  const say = useSay()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={say('top.theme')} size="lg">
          {colorScheme === 'dark' ? <IconMoon size={18} aria-hidden /> : <IconSun size={18} aria-hidden />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {SCHEMES.map((scheme) => (
          <Menu.Item key={scheme} onClick={() => setColorScheme(scheme)} aria-current={scheme === colorScheme}>
            {say(`top.theme.${scheme}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function LanguageMenu(): ReactNode {
  const { say, language, setLanguage } = useTexts()
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={say('top.language')} size="lg">
          <IconLanguage size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {LANGUAGES.map((one) => (
          <Menu.Item key={one} onClick={() => setLanguage(one)} aria-current={one === language}>
            {LANGUAGE_NAMES[one]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function PersonMenu(): ReactNode {
  const say = useSay()
  const me = useMe()
  const navigate = useNavigate()
  const name = me === undefined ? '' : (me.member?.name ?? say('top.key', { id: me.id }))
  const leave = async (): Promise<void> => {
    await signOut()
    await navigate({ to: '/sign-in' })
  }
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={say('top.person', { name })} size="lg">
          <IconUserCircle size={19} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {me !== undefined && (
          <Menu.Label>
            <div className="person-name">{name}</div>
            {say('top.role', { role: say(`role.${me.role}`), org: me.org.name })}
          </Menu.Label>
        )}
        <Menu.Item component="a" href="/docs" target="_blank">
          {say('top.apiDocs')}
        </Menu.Item>
        <Menu.Item onClick={() => void leave()}>{say('top.signOut')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
