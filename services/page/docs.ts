import { byId, copyText, element, table } from './elements.ts'
import { type Schema, schemaText, typeText } from './texts/schemas.ts'

interface Operation {
  readonly summary: string
  readonly security: readonly object[]
  readonly parameters: readonly {
    readonly name: string
    readonly required: boolean
    readonly schema: Schema
  }[]
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly content?: { 'application/json': { schema: Schema } } }
    >
  >
}

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>
}

/** Queries of examples, where a path needs one. */
const queries: Readonly<Record<string, string>> = {
  '/v1/history': '?symbol=BROKER:ACCOUNT:NAME&resolution=1&countback=100',
  '/v1/symbols': '?search=usd',
  '/v1/usage': '?days=30',
}

/** Shows the OpenAPI document of this service. */
async function show(): Promise<void> {
  const main = byId('main')
  try {
    const { info, paths } = JSON.parse(
      (await (await fetch('/openapi.json')).text()).replaceAll('`', ''),
    ) as Document
    main.replaceChildren(
      element('h1', {}, `API of ${info.title} ${info.version}`),
      element('p', {}, info.description),
      element(
        'p',
        {},
        'Before you paste a command: export FXD_API_KEY=fxd_…. Requests with a key count in two windows, of a minute and a day. Each answer has both in its X-RateLimit headers; /v1/usage has your limits.',
      ),
      ...Object.entries(paths).map(([path, { get }]) => pathOf(path, get)),
    )
  } catch {
    main.replaceChildren(
      element('p', { class: 'note', role: 'alert' }, 'The service does not answer. Reload the page later.'),
    )
  }
}

function pathOf(path: string, { summary, security, parameters, responses }: Operation): HTMLElement {
  const isOpen = security.some((way) => Object.keys(way).length === 0)
  const rows = parameters.map(({ name, required, schema }) => [
    name,
    typeText(schema),
    required
      ? 'required'
      : `optional${schema.default === undefined ? '' : `, default ${String(schema.default)}`}`,
    schema.description ?? '',
  ])
  const ok = responses['200']?.content?.['application/json'].schema
  return element(
    'section',
    {},
    element('h2', {}, `GET ${path}`),
    element('p', {}, `${summary}. ${isOpen ? 'It needs no key.' : 'It needs a key.'}`),
    ...(rows.length > 0
      ? [
          element(
            'div',
            { class: 'meanings' },
            table(`Parameters of ${path}`, ['Parameter', 'Type', 'Needed', 'Meaning'], rows),
          ),
        ]
      : []),
    ...(ok ? [example(path), answer('Answer', schemaText(ok))] : []),
    answer(
      'Statuses',
      Object.entries(responses)
        .map(([status, { description }]) => `${status}  ${description}`)
        .join('\n'),
    ),
  )
}

function example(path: string): HTMLElement {
  const command = `curl -H "X-API-Key: $FXD_API_KEY" '${location.origin}${path}${queries[path] ?? ''}'`
  const note = element('span', { class: 'soft', role: 'status' })
  return element(
    'div',
    { class: 'copy' },
    element('button', { class: 'quiet', click: () => void copyText('curl', command, note) }, 'Copy as curl'),
    note,
    element('pre', { tabindex: 0 }, command),
  )
}

const answer = (name: string, text: string): HTMLElement =>
  element('details', {}, element('summary', {}, name), element('pre', { tabindex: 0 }, text))

await show()
