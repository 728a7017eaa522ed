import { createContext, use, useEffect, useMemo, useState, type ReactNode } from 'react'
import { LANGUAGES, type Language } from './catalogue.ts'
import { createSay, LOCALES, type Say } from './fill.ts'

interface Texts {
  readonly language: Language
  readonly locale: string
  readonly say: Say
  readonly setLanguage: (language: Language) => void
}

const Context = createContext<Texts | null>(null)
const REMEMBERED = 'escapement.language'

function firstLanguage(): Language {
  const remembered = localStorage.getItem(REMEMBERED)
  const wanted = [remembered ?? '', ...navigator.languages].map((tag) => tag.slice(0, 2).toLowerCase())
  return LANGUAGES.find((language) => language === wanted.find((tag) => LANGUAGES.some((one) => one === tag))) ?? 'en'
}

/** Provides the texts in the user's language, which they can change at any time. */
export function TextProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [language, setLanguage] = useState<Language>(firstLanguage)
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-Hans' : language
  }, [language])
  const texts = useMemo(
    (): Texts => ({
      ...{ language, locale: LOCALES[language], say: createSay(language) },
      setLanguage: (chosen) => {
        localStorage.setItem(REMEMBERED, chosen)
        setLanguage(chosen)
      },
    }),
    [language],
  )
  return <Context value={texts}>{children}</Context>
}

/** The texts in the user's language, and the language itself. */
export function useTexts(): Texts {
  const texts = use(Context)
  if (texts === null) throw new Error('texts are used inside of TextProvider')
  return texts
}

/** Returns texts: `say('schedules.title')`, `say('schedules.count', { count })`. */
export const useSay = (): Say => useTexts().say
