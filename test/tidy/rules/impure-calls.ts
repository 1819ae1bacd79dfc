import { matchesGlob } from 'node:path'
import { Visitor } from 'oxc-parser'
import { parse } from '../syntax.ts'
import { impureCalls } from '../tables.ts'
import type { TextFile } from '../tree.ts'

interface Use {
  readonly name: string
  /** True for `Date.UTC(…)` and `new Date(time)`, which read no clock. */
  readonly harmless: boolean
}

const clockNames = new Set(['Date', 'performance', 'setTimeout', 'setInterval', 'setImmediate'])
const clockMembers = new Set(['Math.random', 'process.hrtime', 'process.uptime', 'AbortSignal.timeout'])
const clockModules = new Set(['node:timers', 'node:timers/promises', 'node:perf_hooks'])
const drawsRandom = /^(random(Bytes|UUID|UUIDv7|Int|Fill|FillSync)|getRandomValues)$/

/** Every name and every `a.b` that a file refers to. Names of its own properties and types are left out. */
function usesOf(file: TextFile): Use[] {
  const uses: Use[] = []
  const notReferences = new Set<number>()
  const harmless = new Set<number>()
  const label = (key: { start: number }, computed: boolean): void => {
    if (!computed) notReferences.add(key.start)
  }

  new Visitor({
    MemberExpression: (node) => {
      label(node.property, node.computed)
      if (node.object.type !== 'Identifier' || node.property.type !== 'Identifier') return
      uses.push({ name: `${node.object.name}.${node.property.name}`, harmless: false })
      if (node.object.name === 'globalThis') uses.push({ name: node.property.name, harmless: false })
      if (node.object.name === 'Date' && node.property.name === 'UTC') harmless.add(node.object.start)
    },
    NewExpression: (node) => {
      if (node.arguments.length === 1) harmless.add(node.callee.start)
    },
    ImportSpecifier: (node) => {
      const name = 'name' in node.imported ? node.imported.name : node.imported.value
      if (drawsRandom.test(name)) uses.push({ name, harmless: false })
    },
    ImportDeclaration: (node) => uses.push({ name: node.source.value, harmless: false }),
    Property: (node) => label(node.key, node.computed || node.shorthand),
    MethodDefinition: (node) => label(node.key, node.computed),
    PropertyDefinition: (node) => label(node.key, node.computed),
    TSPropertySignature: (node) => label(node.key, node.computed),
    TSMethodSignature: (node) => label(node.key, node.computed),
    TSTypeReference: (node) => label(node.typeName, false),
    Identifier: (node) => {
      if (!notReferences.has(node.start)) {
        uses.push({ name: node.name, harmless: harmless.has(node.start) })
      }
    },
  }).visit(parse(file))
  return uses
}

const isTimeOrRandom = ({ name, harmless }: Use): boolean =>
  (clockNames.has(name) && !harmless) ||
  clockMembers.has(name) ||
  clockModules.has(name) ||
  drawsRandom.test(name.replace(/^(node)?crypto\./i, ''))

const kinds: readonly { kind: string; isUsed: (use: Use) => boolean; cure: string }[] = [
  {
    kind: 'wall clock, timers, randomness',
    isUsed: isTimeOrRandom,
    cure: 'take the Clock port (services/ports/clock.ts)',
  },
  {
    kind: 'process.env',
    isUsed: ({ name }) => name === 'process.env',
    cure: 'read it in services/platform/config.ts and pass the value on',
  },
]

export function checkImpureCalls(files: readonly TextFile[]): string[] {
  const table = impureCalls()
  return kinds.flatMap(({ kind, isUsed, cure }) => {
    const allowed = table.get(kind)
    if (allowed === undefined) throw new Error(`ARCHITECTURE.md has no row "${kind}".`)
    return files
      .filter((file) => !allowed.some((pattern) => matchesGlob(file.path, pattern)))
      .flatMap((file) => {
        const names = new Set(
          usesOf(file)
            .filter(isUsed)
            .map((use) => use.name),
        )
        return names.size === 0 ? [] : [`${file.path} uses ${[...names].join(', ')}; ${cure}`]
      })
  })
}
