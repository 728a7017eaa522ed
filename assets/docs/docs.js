// The search of /docs, and addresses that open what they name. Without it the page can be read all the same.
const search = document.getElementById('search')
const none = document.getElementById('none')
const entries = [...document.querySelectorAll('details.operation')]
const sections = [...document.querySelectorAll('main > section')]

function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (named === null) return
  if (named instanceof HTMLDetailsElement) named.open = true
  named.scrollIntoView()
}

/** Shows the entries that have every word in them. */
function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const entry of entries) {
    const text = entry.dataset.found ?? ''
    entry.hidden = !words.every((word) => text.includes(word))
  }
  for (const section of sections) section.hidden = !section.querySelector('details.operation:not([hidden])')
  none.hidden = words.length === 0 || entries.some((entry) => !entry.hidden)
}

if (search !== null) {
  search.addEventListener('input', find)
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== search) {
      event.preventDefault()
      search.focus()
    }
    if (event.key === 'Escape' && document.activeElement === search) {
      search.value = ''
      find()
      search.blur()
    }
  })
  // What is named must be there to be seen, whatever was searched for before.
  addEventListener('hashchange', () => {
    search.value = ''
    find()
    openNamed()
  })
  find()
}
openNamed()
