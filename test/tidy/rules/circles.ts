import { imported, importsOf, lineAt } from '../syntax.ts'
import type { TextFile } from '../tree.ts'

/** The shortest chain of imports from `start` back to `start`, if there is one. */
function circleFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const importers = new Map<string, string | undefined>([[start, undefined]])
  for (const path of importers.keys()) {
    for (const target of imports.get(path) ?? []) {
      if (target === start) return chainTo(path, importers)
      if (!importers.has(target)) importers.set(target, path)
    }
  }
  return undefined
}

function chainTo(last: string, importers: ReadonlyMap<string, string | undefined>): string[] {
  const chain: string[] = []
  for (let path: string | undefined = last; path !== undefined; path = importers.get(path))
    chain.unshift(path)
  return chain
}

/** Complains once about each import circle. Type imports count. */
export function checkCircles(files: readonly TextFile[]): string[] {
  const imports = new Map(
    files.map((file) => [
      file.path,
      importsOf(file).flatMap((specifier) =>
        specifier.startsWith('.') ? [imported(file.path, specifier)] : [],
      ),
    ]),
  )
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const reported = new Set<string>()
  return files.flatMap(({ path }) => {
    const circle = circleFrom(path, imports)
    if (circle === undefined) return []
    const members = circle.toSorted().join()
    if (reported.has(members)) return []
    reported.add(members)
    const text = texts.get(path) ?? ''
    const [first = '', next = first] = circle
    const line = lineAt(text, text.indexOf(next.split('/').at(-1) ?? ''))
    const chain = [...circle.slice(1), first].join(', which imports ')
    return [`${path}:${line} imports ${chain}; move what they share to a file that imports neither`]
  })
}
