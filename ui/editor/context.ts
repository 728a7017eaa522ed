import { createContext, use } from 'react'
import type { ScheduleForm } from './form/form.ts'

/** What the sections of the editor share. */
export interface EditorState {
  readonly form: ScheduleForm
  readonly set: (part: Partial<ScheduleForm>) => void
  /** What is wrong with a field of the server, by its path with dots; undefined when nothing is. */
  readonly errorOf: (...fields: readonly string[]) => string | undefined
  /** Whether something is wrong with one of these, or with a part of them. */
  readonly isWrongIn: (fields: readonly string[]) => boolean
}

/** Holds the state for everything inside of the editor. */
export const EditorContext = createContext<EditorState | null>(null)

/** The form, how to change it, and what is wrong with it. */
export function useEditor(): EditorState {
  const state = use(EditorContext)
  if (state === null) throw new Error('fields are used inside of the editor')
  return state
}
