import { matchesGlob } from 'node:path'
import { Visitor } from 'oxc-parser'
import { parse } from '../syntax.ts'
import { doors } from '../tables.ts'
import type { TextFile } from '../tree.ts'

interface Use {
  readonly name: string
  /** True for what reads no clock: `Date.UTC(…)` and `new Date(time)`. */
  readonly harmless: boolean
}

const clockNames = new Set(['Date', 'performance', 'setTimeout', 'setInterval', 'setImmediate'])
const clockMembers = new Set(['Math.random', 'process.hrtime', 'process.uptime', 'AbortSignal.timeout'])
const clockModules = new Set(['node:timers', 'node:timers/promises', 'node:perf_hooks'])
const drawsRandom = /^(random(Bytes|UUID|UUIDv7|Int|Fill|FillSync)|getRandomValues)$/

/** Every name and every `a.b` that a file refers to, without the names of its own properties and types. */
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

const opensClock = ({ name, harmless }: Use): boolean =>
  (clockNames.has(name) && !harmless) ||
  clockMembers.has(name) ||
  clockModules.has(name) ||
  drawsRandom.test(name.replace(/^(node)?crypto\./i, ''))

const kinds: readonly { door: string; opens: (use: Use) => boolean; cure: string }[] = [
  {
    door: 'wall clock, timers, randomness',
    opens: opensClock,
    cure: 'take the Clock port (services/ports/clock.ts)',
  },
  {
    door: 'process.env',
    opens: ({ name }) => name === 'process.env',
    cure: 'read it in services/platform/config.ts and hand the value down',
  },
]

export function checkDoors(files: readonly TextFile[]): string[] {
  const table = doors()
  return kinds.flatMap(({ door, opens, cure }) => {
    const homes = table.get(door)
    if (homes === undefined) throw new Error(`ARCHITECTURE.md no longer says where "${door}" may appear.`)
    return files
      .filter((file) => !homes.some((home) => matchesGlob(file.path, home)))
      .flatMap((file) => {
        const names = new Set(
          usesOf(file)
            .filter(opens)
            .map((use) => use.name),
        )
        return names.size === 0 ? [] : [`${file.path} uses ${[...names].join(', ')}; ${cure}`]
      })
  })
}
