import { Button, Code, PasswordInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState, type SyntheticEvent, type ReactNode } from 'react'
import { takeLinkToken } from '../../api/link-token.ts'
import { isSignedOut, messageOf } from '../../api/refusal.ts'
import { signIn } from '../../api/session.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import './sign-in.css'

const COMMAND = 'escapement login'

/** One field; or the link did it. */
export function SignInPage(): ReactNode {
  const say = useSay()
  const { then = '/', expired } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const [key, setKey] = useState('')
  const { mutate, error, isPending, variables } = useMutation({
    mutationFn: signIn,
    onSuccess: () => navigate({ to: then, replace: true }),
  })
  useEffect(() => {
    const token = takeLinkToken()
    if (token !== null) mutate({ token })
  }, [mutate])
  useEffect(() => {
    document.title = `${say('signIn.title')} · ${say('app.name')}`
  }, [say])
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (key.trim() !== '') mutate({ key: key.trim() })
  }
  const byLink = variables !== undefined && 'token' in variables
  const trouble = error === null ? null : byLink && isSignedOut(error) ? say('signIn.linkOver') : messageOf(error, say)
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <img src="/mark.svg" alt="" width={40} height={40} />
        <h1>{say('signIn.title')}</h1>
        <p>{say(expired === true ? 'signIn.expired' : 'signIn.lead')}</p>
        {byLink && trouble !== null && (
          <p role="alert" className="sign-in-trouble">
            {trouble}
          </p>
        )}
        <PasswordInput
          {...{ value: key, size: 'md', autoComplete: 'off', 'data-autofocus': true, autoFocus: true }}
          label={say('signIn.key')}
          description={say('signIn.keyHint')}
          error={byLink ? null : trouble}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
        <Button type="submit" size="md" loading={isPending} disabled={key.trim() === ''} fullWidth>
          {say(isPending ? 'signIn.working' : 'signIn.submit')}
        </Button>
        <p className="quiet">
          {say('signIn.howTo')} <Code>{COMMAND}</Code>
        </p>
      </form>
    </main>
  )
}
