/** Writes the TypeScript types of the kinds of fxd-crds: `bin/node charts/write-kinds.ts [FILE]`. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly (string | number)[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly required?: readonly string[]
  readonly default?: unknown
}

interface Kind {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string; readonly plural: string }
    readonly versions: readonly {
      readonly name: string
      readonly schema: { readonly openAPIV3Schema: Schema }
    }[]
  }
}

const folder = join(import.meta.dirname, 'fxd-crds/templates')
const out = process.argv[2] ?? join(import.meta.dirname, '../operator/kube/kinds.ts')

function typeOf(schema: Schema, indent: string): string {
  if (schema.enum)
    return schema.enum.map((each) => (typeof each === 'string' ? `'${each}'` : each)).join(' | ')
  if (schema.type === 'string') return 'string'
  if (schema.type === 'integer') return 'number'
  if (schema.type === 'boolean') return 'boolean'
  if (schema.type === 'array') {
    const item = typeOf(schema.items ?? {}, indent)
    return `readonly ${/[|\n]/.test(item) && !item.startsWith('{') ? `(${item})` : item}[]`
  }
  if (schema.properties) return mapping(schema, indent)
  if (schema.additionalProperties)
    return `Readonly<Record<string, ${typeOf(schema.additionalProperties, indent)}>>`
  return 'Readonly<Record<string, unknown>>'
}

function mapping({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    // The API server fills in what has a default.
    const mark = required.includes(name) || schema.default !== undefined ? '' : '?'
    const words = schema.description === undefined ? '' : `${inner}/** ${schema.description} */\n`
    return `${words}${inner}readonly ${name}${mark}: ${typeOf(schema, inner)}\n`
  })
  return `{\n${fields.join('')}${indent}}`
}

function writeKind({ spec }: Kind): string {
  const [version] = spec.versions
  if (version === undefined) throw new Error(`${spec.names.kind} has no version`)
  const { kind, plural } = spec.names
  const { properties = {} } = version.schema.openAPIV3Schema
  const part = (name: 'spec' | 'status'): string =>
    `export interface ${kind}${name === 'spec' ? 'Spec' : 'Status'} ${typeOf(properties[name] ?? {}, '')}\n`
  const place = `{ group: '${spec.group}', version: '${version.name}', plural: '${plural}', kind: '${kind}' }`
  return `${part('spec')}\n${part('status')}\nexport const ${plural} = ${place} as const\n`
}

const kinds = readdirSync(folder)
  .toSorted()
  .map((file) => parse(readFileSync(join(folder, file), 'utf8')) as Kind)
writeFileSync(
  out,
  `// Written by charts/write-kinds.ts from charts/fxd-crds.\n\n${kinds.map(writeKind).join('\n')}`,
)
