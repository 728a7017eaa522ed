import { Button, TextInput } from '@mantine/core'
import { IconMessage2 } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api } from '../api/client.ts'
import { fieldErrorsOf, messageOf } from '../api/refusal.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { useEditor } from './context.ts'
import { formOfWords } from './form/words-form.ts'

/** Says when in words: fills the form with what they mean, and tells what was decided on the way. */
export function WordsLine(): ReactNode {
  const say = useSay()
  const { form, set } = useEditor()
  const [text, setText] = useState('')
  const read = useMutation({
    mutationFn: () => api.schedules.parse({ text, timezone: form.timezone }),
    onSuccess: (words) => set(formOfWords(words, form)),
  })
  const start = (): void => {
    if (text.trim() !== '' && !read.isPending) read.mutate()
  }
  const error = read.error === null ? undefined : (fieldErrorsOf(read.error)['text'] ?? messageOf(read.error, say))
  return (
    <div className="words-line">
      <TextInput
        {...{ value: text, error, size: 'sm', autoComplete: 'off', spellCheck: false, 'data-field': 'words' }}
        label={say('edit.words')}
        placeholder={say('edit.words.example')}
        leftSection={<IconMessage2 size={15} aria-hidden />}
        onChange={(event) => {
          setText(event.currentTarget.value)
          read.reset()
        }}
        onKeyDown={(event) => {
          // Enter reads the sentence; without this it would send the whole form.
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
          event.preventDefault()
          start()
        }}
      />
      <Button variant="default" loading={read.isPending} disabled={text.trim() === ''} onClick={start}>
        {say('edit.words.read')}
      </Button>
      {read.data !== undefined && (
        <div className="words-read" role="status">
          <strong>{read.data.sentence}</strong>
          {read.data.notes.length > 0 && (
            <ul>
              {read.data.notes.map((note) => (
                <li key={note}>{note}</li>
              ))}
            </ul>
          )}
        </div>
      )}
    </div>
  )
}
