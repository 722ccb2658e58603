// JacORB's naming client at a Corelane nameserver: NamingClient REFERENCE STEP ... performs the steps in turn, and
// prints a line for each: the result, or the exception.
//   context NAME    bind NAME    rebind NAME    resolve NAME    unbind NAME    list NAME    destroy NAME
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.UserException;
import org.omg.CosNaming.BindingIteratorHolder;
import org.omg.CosNaming.BindingListHolder;
import org.omg.CosNaming.BindingType;
import org.omg.CosNaming.NamingContext;
import org.omg.CosNaming.NamingContextExt;
import org.omg.CosNaming.NamingContextExtHelper;
import org.omg.CosNaming.NamingContextHelper;
import org.omg.CosNaming.NamingContextPackage.NotFound;

public class NamingClient {
  private static final String[] REASONS = {"missing_node", "not_context", "not_object"};
  private final ORB orb;
  private final NamingContextExt root;

  private NamingClient(ORB orb) throws UserException {
    this.orb = orb;
    root = NamingContextExtHelper.narrow(orb.resolve_initial_references("NameService"));
  }

  private String list(String name) throws UserException {
    NamingContext context = name.isEmpty() ? root : NamingContextHelper.narrow(root.resolve_str(name));
    BindingListHolder first = new BindingListHolder();
    BindingIteratorHolder rest = new BindingIteratorHolder();
    context.list(2, first, rest);  // so that more than two entries need an iterator
    StringBuilder text = new StringBuilder();
    append(text, first);
    if (rest.value != null) {
      BindingListHolder more = new BindingListHolder();
      while (rest.value.next_n(2, more)) append(text, more);
      rest.value.destroy();
    }
    return text.toString();
  }

  private void append(StringBuilder text, BindingListHolder bindings) throws UserException {
    for (org.omg.CosNaming.Binding binding : bindings.value)
      text.append(text.length() == 0 ? "" : " ")
          .append(root.to_string(binding.binding_name))
          .append(binding.binding_type.value() == BindingType._ncontext ? "/" : "");
  }

  private String step(String what, String name) throws UserException {
    org.omg.CORBA.Object thing = orb.string_to_object("corbaloc::things.example:1/x");
    switch (what) {
      case "context":
        root.bind_new_context(root.to_name(name));
        return "";
      case "bind":
        root.bind(root.to_name(name), thing);
        return "";
      case "rebind":
        root.rebind(root.to_name(name), thing);
        return "";
      case "resolve":
        return orb.object_to_string(root.resolve_str(name));
      case "unbind":
        root.unbind(root.to_name(name));
        return "";
      case "list":
        return list(name);
      case "destroy":
        NamingContextHelper.narrow(root.resolve_str(name)).destroy();
        return "";
      default:
        throw new IllegalArgumentException(what);
    }
  }

  private String outcome(String what, String name) {
    try {
      return step(what, name);
    } catch (NotFound fault) {
      return "NotFound " + REASONS[fault.why.value()] + " " + fault.rest_of_name[0].id;
    } catch (UserException | SystemException fault) {
      return fault.getClass().getSimpleName();
    }
  }

  public static void main(String[] words) throws UserException {
    java.util.Properties properties = new java.util.Properties();
    properties.setProperty("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
    properties.setProperty("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
    properties.setProperty("jacorb.log.default.verbosity", "0");
    properties.setProperty("ORBInitRef.NameService", words[0]);
    ORB orb = ORB.init(new String[0], properties);
    NamingClient client = new NamingClient(orb);
    for (int i = 1; i + 1 < words.length; i += 2)
      System.out.println(words[i] + " " + words[i + 1] + ": " + client.outcome(words[i], words[i + 1]));
    orb.destroy();
  }
}
