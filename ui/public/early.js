// Before anything is drawn: the theme the person has chosen, or else the one of their system.
;(function () {
  var chosen = null
  try {
    chosen = localStorage.getItem('escapement.theme')
  } catch {
    // Storage may be switched off; then the system decides.
  }
  var dark = chosen === 'dark' || (chosen !== 'light' && window.matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
})()
