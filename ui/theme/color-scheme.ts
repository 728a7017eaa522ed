import type { MantineColorScheme, MantineColorSchemeManager } from '@mantine/core'

const REMEMBERED = 'escapement.theme'

const isScheme = (word: string | null): word is MantineColorScheme =>
  word === 'light' || word === 'dark' || word === 'auto'

/** Remembers the chosen theme where public/early.js finds it before anything is drawn. */
export const colorSchemeManager: MantineColorSchemeManager = {
  get: (otherwise) => {
    const remembered = localStorage.getItem(REMEMBERED)
    return isScheme(remembered) ? remembered : otherwise
  },
  set: (scheme) => {
    localStorage.setItem(REMEMBERED, scheme)
  },
  subscribe: () => undefined,
  unsubscribe: () => undefined,
  clear: () => {
    localStorage.removeItem(REMEMBERED)
  },
}
