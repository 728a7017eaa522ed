import '@fontsource-variable/inter/wght.css'
import '@mantine/core/styles.css'
import './theme/tokens.css'
import './time/time.css'
import './parts/parts.css'
import './shell/shell.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient, whenSignedOut } from './api/query-client.ts'
import { router } from './app/router.ts'
import { Toasts } from './parts/toasts/Toasts.tsx'
import { TextProvider } from './texts/TextProvider.tsx'
import { colorSchemeManager } from './theme/color-scheme.ts'
import { theme } from './theme/theme.ts'

whenSignedOut(() => {
  const { href, pathname } = router.state.location
  if (pathname === '/sign-in' || router.state.matches.length < 2) return
  queryClient.clear()
  void router.navigate({ to: '/sign-in', search: { then: href, expired: true } })
})

const place = document.getElementById('root')
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <MantineProvider theme={theme} colorSchemeManager={colorSchemeManager} defaultColorScheme="auto">
        <TextProvider>
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router} />
            <Toasts />
          </QueryClientProvider>
        </TextProvider>
      </MantineProvider>
    </StrictMode>,
  )
