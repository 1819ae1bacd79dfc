import { byId, element, table } from './elements.ts'
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

/** Shows the OpenAPI document of this service. */
async function show(): Promise<void> {
  const main = byId('main')
  try {
    const { info, paths } = (await (await fetch('/openapi.json')).json()) as Document
    main.replaceChildren(
      element('h1', {}, `Paths of ${info.title} ${info.version}`),
      element('p', {}, info.description),
      element('pre', { tabindex: 0 }, `curl -H "X-API-Key: $FXD_API_KEY" '${location.origin}/v1/status'`),
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
    ...(ok ? [answer('Answer', schemaText(ok))] : []),
    answer(
      'Statuses',
      Object.entries(responses)
        .map(([status, { description }]) => `${status}  ${description}`)
        .join('\n'),
    ),
  )
}

const answer = (name: string, text: string): HTMLElement =>
  element('details', {}, element('summary', {}, name), element('pre', { tabindex: 0 }, text))

await show()
