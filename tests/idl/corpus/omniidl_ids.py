"""A back end of omniidl: prints the scoped name and the repository id of every definition, included ones too.

    omniidl -p <this folder> -bomniidl_ids FILE
"""
import sys

from omniidl import idlast, idlutil, idlvisitor


class Ids(idlvisitor.AstVisitor):
    def show(self, node):
        sys.stdout.write("%s %s\n" % (idlutil.ccolonName(node.scopedName()), node.repoId()))

    def walk(self, nodes):
        for node in nodes:
            node.accept(self)

    def of_type(self, node, type_of):
        if node.constrType():
            type_of().decl().accept(self)

    def visitAST(self, node):
        self.walk(node.declarations())

    def visitModule(self, node):
        self.show(node)
        self.walk(node.definitions())

    def visitInterface(self, node):
        self.show(node)
        self.walk(node.contents())

    visitValue = visitValueAbs = visitInterface

    def visitStruct(self, node):
        self.show(node)
        self.walk(node.members())

    visitException = visitStruct

    def visitMember(self, node):
        self.of_type(node, node.memberType)

    visitStateMember = visitMember

    def visitUnion(self, node):
        self.show(node)
        self.of_type(node, node.switchType)
        self.walk(node.cases())

    def visitUnionCase(self, node):
        self.of_type(node, node.caseType)

    def visitTypedef(self, node):
        self.of_type(node, node.aliasType)
        self.walk(node.declarators())

    def visitValueBox(self, node):
        self.show(node)
        self.of_type(node, node.boxedType)

    def visitEnum(self, node):
        self.show(node)
        self.walk(node.enumerators())

    def visitAttribute(self, node):
        self.walk(node.declarators())

    def visitOperation(self, node):
        self.show(node)

    visitForward = visitConst = visitDeclarator = visitStructForward = visitUnionForward = visitValueForward = visitOperation
    visitEnumerator = visitNative = visitOperation


def run(tree, args):
    tree.accept(Ids())
