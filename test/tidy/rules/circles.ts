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

/** The paths that a file imports. Type imports count. */
const importedBy = (file: TextFile): string[] =>
  importsOf(file).flatMap((specifier) => (specifier.startsWith('.') ? [imported(file.path, specifier)] : []))

/** Complains once about each import circle of files. */
export function checkCircles(files: readonly TextFile[]): string[] {
  const imports = new Map(files.map((file) => [file.path, importedBy(file)]))
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

/** The folders of two paths below the folder that they share; `undefined` if that holds one of the files itself. */
function siblings(path: string, target: string): readonly [string, string] | undefined {
  const [own, other] = [path.split('/'), target.split('/')]
  const shared = own.findIndex((part, i) => part !== other[i])
  if (shared < 1 || shared >= own.length - 1 || shared >= other.length - 1) return undefined
  return [own.slice(0, shared + 1).join('/'), other.slice(0, shared + 1).join('/')]
}

/** Complains once about each circle of folders beside each other, with one import of each. */
export function checkFolderCircles(files: readonly TextFile[]): string[] {
  const imports = new Map<string, string[]>()
  const examples = new Map<string, string>()
  for (const file of files) {
    for (const target of importedBy(file)) {
      const [folder, other] = siblings(file.path, target) ?? []
      if (folder === undefined || other === undefined) continue
      imports.set(folder, [...(imports.get(folder) ?? []), other])
      examples.set(`${folder} ${other}`, `${file.path} imports ${target}`)
    }
  }
  const reported = new Set<string>()
  return [...imports.keys()].flatMap((folder) => {
    const circle = circleFrom(folder, imports)
    const members = circle?.toSorted().join() ?? ''
    if (circle === undefined || reported.has(members)) return []
    reported.add(members)
    const arrows = circle.map((from, i) => examples.get(`${from} ${circle[i + 1] ?? folder}`))
    return [`${arrows.join(', and ')}: a circle of folders; move what they share to one that imports neither`]
  })
}
