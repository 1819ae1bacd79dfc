import type { App, OpenView } from './app.ts'
import { openChart } from './chart/chart-view.ts'
import { byId, element, say } from './elements.ts'
import { keyForm } from './key-form.ts'
import { Session } from './session.ts'
import { wordsOf } from './texts/address.ts'
import { openFeeds } from './views/feeds-view.ts'
import { openUsage } from './views/usage-view.ts'
import { openWall } from './wall/wall-view.ts'

const views: Readonly<Record<string, OpenView>> = {
  feeds: openFeeds,
  chart: openChart,
  gaps: openWall,
  usage: openUsage,
}
/** Set only if a person asks for it; it ends with the tab. */
const storedKey = 'fxd-key'

const main = byId('main')
const banner = byId('banner')
let session: Session | undefined
let open: AbortController | undefined

/** Tries a key, and opens the view of the address. A refused key brings the form back, with the reason. */
function begin(key: string, isKept: boolean): void {
  session?.close()
  sessionStorage.removeItem(storedKey)
  if (/[^!-~]/.test(key)) return end('This key has a space or another character that no key has.')
  if (isKept) sessionStorage.setItem(storedKey, key)
  session = new Session(location.origin, key, {
    note: (text) => say(banner, text),
    ready: show,
    ended: end,
  })
}

function end(reason: string): void {
  const wasOpen = session?.app !== undefined
  session?.close()
  session = undefined
  sessionStorage.removeItem(storedKey)
  say(banner, '')
  // A link stays until a key has opened it; afterwards the next person in this tab must not see it.
  if (wasOpen) history.replaceState(null, '', location.pathname)
  document.title = 'fxd'
  // A key that was just refused stays in its field, so that it can be mended.
  if (wasOpen || !document.getElementById('key')) show()
  say(byId('reason'), reason)
  byId('key').focus()
}

function show(): void {
  open?.abort()
  open = new AbortController()
  const app = session?.app
  byId('views').hidden = byId('forget').hidden = app === undefined
  if (app) showView(app, open.signal)
  else {
    main.replaceChildren(keyForm(begin))
    byId('key').focus()
  }
}

function showView(app: App, signal: AbortSignal): void {
  const [name = '', ...words] = wordsOf(location.hash)
  const openView = views[name] ?? openFeeds
  const view = openView(app, words, signal)
  if (view.parentElement !== main) main.replaceChildren(view)
  for (const link of byId('views').querySelectorAll('a')) {
    if (link.hash === `#${name || 'feeds'}`) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  document.title = main.querySelector('h1')?.textContent ?? 'fxd'
}

window.addEventListener('hashchange', () => {
  if (session?.app) show()
})
byId('forget').addEventListener('click', () => end('The key is forgotten.'))

const kept = sessionStorage.getItem(storedKey)
if (kept === null) show()
else {
  main.replaceChildren(element('p', { class: 'soft' }, 'Reading the feeds…'))
  begin(kept, true)
}
