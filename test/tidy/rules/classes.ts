import { type Class, type Expression, type TSType, type TSTypeName, Visitor } from 'oxc-parser'
import { imported, lineAt, parse } from '../syntax.ts'
import type { TextFile } from '../tree.ts'

const publicMethodsMax = 10
const collaboratorsMax = 8

/** The parts of a class or an interface that the rule counts, by syntax. */
interface Shape {
  readonly path: string
  readonly name: string
  readonly line: number
  readonly isClass: boolean
  readonly hasMethods: boolean
  readonly publicMethods: number
  /** The names of the types of its fields, and of the classes that its fields are initialised with. */
  readonly uses: ReadonlySet<string>
  readonly parents: readonly string[]
}

interface Module {
  readonly shapes: ReadonlyMap<string, Shape>
  /** Local name → file and the name there. */
  readonly imports: ReadonlyMap<string, readonly [path: string, name: string]>
}

const lastName = (name: TSTypeName): string => (name.type === 'Identifier' ? name.name : '')

/** The names of a field's type: `A`, `A | undefined`. Elements of a list or a map are values, not collaborators. */
function namesIn(type: TSType | undefined): string[] {
  if (type?.type === 'TSTypeReference') return [lastName(type.typeName)]
  return type?.type === 'TSUnionType' ? type.types.flatMap(namesIn) : []
}

const nameOf = (node: Expression | null | undefined): string[] =>
  node?.type === 'Identifier' ? [node.name] : []

function classShape(file: TextFile, node: Class): Shape {
  const members = node.body.body
  const methods = members.flatMap((one) =>
    one.type === 'MethodDefinition' && one.kind === 'method' && !one.static ? [one] : [],
  )
  const isPublic = methods.filter(
    ({ key, accessibility }) =>
      key.type !== 'PrivateIdentifier' && accessibility !== 'private' && accessibility !== 'protected',
  )
  const uses = members.flatMap((one) => {
    if (one.type !== 'PropertyDefinition') return []
    const created = one.value?.type === 'NewExpression' ? nameOf(one.value.callee) : []
    return [...namesIn(one.typeAnnotation?.typeAnnotation), ...created]
  })
  return {
    path: file.path,
    name: node.id?.name ?? '',
    line: lineAt(file.text, node.start),
    isClass: true,
    hasMethods: methods.length > 0,
    publicMethods: isPublic.length,
    uses: new Set(uses),
    parents: nameOf(node.superClass),
  }
}

function moduleOf(file: TextFile): Module {
  const shapes = new Map<string, Shape>()
  const imports = new Map<string, readonly [string, string]>()
  new Visitor({
    ImportDeclaration: (node) => {
      for (const one of node.specifiers) {
        if (one.type !== 'ImportSpecifier' || one.imported.type !== 'Identifier') continue
        imports.set(one.local.name, [imported(file.path, node.source.value), one.imported.name])
      }
    },
    ClassDeclaration: (node) => {
      const shape = classShape(file, node)
      shapes.set(shape.name, shape)
    },
    TSInterfaceDeclaration: (node) => {
      const fields = node.body.body.flatMap((one) => (one.type === 'TSPropertySignature' ? [one] : []))
      shapes.set(node.id.name, {
        path: file.path,
        name: node.id.name,
        line: lineAt(file.text, node.start),
        isClass: false,
        hasMethods: node.body.body.some((one) => one.type === 'TSMethodSignature'),
        publicMethods: 0,
        uses: new Set(fields.flatMap((one) => namesIn(one.typeAnnotation?.typeAnnotation))),
        parents: node.extends.flatMap(({ expression }) => nameOf(expression)),
      })
    },
  }).visit(parse(file))
  return { shapes, imports }
}

/** Complains about each class with too many public methods or too many collaborators. */
export function checkClasses(files: readonly TextFile[]): string[] {
  const modules = new Map(files.map((file) => [file.path, moduleOf(file)]))

  const find = (path: string, name: string): Shape | undefined => {
    const module = modules.get(path)
    const [from, there] = module?.imports.get(name) ?? []
    const own = module?.shapes.get(name)
    return own ?? (from === undefined || there === undefined ? undefined : find(from, there))
  }
  const parentsOf = ({ path, parents }: Shape): Shape[] => parents.flatMap((name) => find(path, name) ?? [])
  const hasMethods = (shape: Shape): boolean => shape.hasMethods || parentsOf(shape).some(hasMethods)
  const usedBy = (shape: Shape): Shape[] => [
    ...[...shape.uses].flatMap((name) => find(shape.path, name) ?? []),
    ...(shape.isClass ? [] : parentsOf(shape).flatMap(usedBy)),
  ]

  const collaboratorsOf = (shape: Shape): Set<Shape> => {
    const collaborators = new Set<Shape>()
    for (const used of usedBy(shape)) {
      if (used.name.endsWith('Deps')) for (const one of collaboratorsOf(used)) collaborators.add(one)
      else if (hasMethods(used) && !used.path.startsWith('services/core/')) collaborators.add(used)
    }
    return collaborators
  }

  const classes = [...modules.values()].flatMap(({ shapes }) =>
    [...shapes.values()].filter((one) => one.isClass),
  )
  return classes.flatMap((shape) => {
    const at = `${shape.path}:${shape.line} ${shape.name}`
    const names = [...collaboratorsOf(shape)].map(({ name }) => name)
    const tooMany = (count: number, what: string, most: number): string[] =>
      count > most ? [`${at} has ${count} ${what}, ${most} at most; split it by idea`] : []
    return [
      ...tooMany(shape.publicMethods, 'public methods', publicMethodsMax),
      ...tooMany(names.length, `collaborators (${names.join(', ')})`, collaboratorsMax),
    ]
  })
}
