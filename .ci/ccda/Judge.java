import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.context.support.DefaultProfileValidationSupport;
import ca.uhn.fhir.validation.FhirValidator;
import ca.uhn.fhir.validation.ResultSeverityEnum;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hl7.fhir.common.hapi.validation.support.CommonCodeSystemsTerminologyService;
import org.hl7.fhir.common.hapi.validation.support.InMemoryTerminologyServerValidationSupport;
import org.hl7.fhir.common.hapi.validation.support.ValidationSupportChain;
import org.hl7.fhir.common.hapi.validation.validator.FhirInstanceValidator;

/**
 * Validates resources (NDJSON, or one in a file *.json) with HL7's validator and the profiles of FHIR R4. It prints
 * errors by kind, and fails if the list of accepted errors does not name one, or if an accepted error of a judged file
 * no longer occurs. Usage: Judge [-accepted FILE] [-each] FILE ... With -each it fails if any line has no error.
 */
public final class Judge {
  private static final String TYPE = "resourceType";
  private static final String ID = "id";
  private static final Pattern PLACE = Pattern.compile("Bundle\\.entry\\[(\\d+)](?:\\.resource)?(?:/\\*.*?\\*/)?(.*)");
  private static final String BUNDLE = "{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[%s]}";
  private static final String ENTRY = "{\"fullUrl\":\"https://judge.invalid/%s/%s\",\"resource\":%s}";
  private static final int BATCH = 200;
  private static final String TOGETHER = "all-at-once"; // the file of all documents, with their errors

  private final FhirValidator validator;
  private final List<Accepted> accepted;
  private final Map<String, List<Issue>> known = new HashMap<>(); // by line: documents share resources

  private Judge(FhirValidator validator, List<Accepted> accepted) {
    this.validator = validator;
    this.accepted = accepted;
  }

  /** An error at a place of a resource. */
  private record Issue(String place, String message) {}

  /** A line of a file with its errors. */
  private record Line(String document, String type, String id, List<Issue> issues) {}

  /** An error that is the source's own: a file, an element and a part of the message, and why it is accepted. */
  private record Accepted(String document, String element, String message, AtomicInteger count) {
    boolean covers(String of, Issue issue) {
      return (document.equals(of) || of.equals(TOGETHER)) && pathOf(issue.place).endsWith("." + element)
          && issue.message.contains(message);
    }

    static Accepted parse(String line) {
      String[] parts = line.split("\t+");
      if (parts.length != 4) {
        throw new IllegalArgumentException("want document, element, message and reason, parted by tabs: " + line);
      }
      return new Accepted(parts[0], parts[1], parts[2], new AtomicInteger());
    }
  }

  public static void main(String[] args) throws IOException {
    List<Accepted> accepted = new ArrayList<>();
    List<Path> files = new ArrayList<>();
    boolean each = false;
    for (int i = 0; i < args.length; i++) {
      if (args[i].equals("-accepted")) {
        i++;
        Files.readAllLines(Path.of(args[i])).stream()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .map(Accepted::parse)
            .forEach(accepted::add);
      } else if (args[i].equals("-each")) {
        each = true;
      } else {
        files.add(Path.of(args[i]));
      }
    }
    boolean passed = new Judge(validator(), accepted).judge(files, each);
    System.exit(passed ? 0 : 1);
  }

  /** Knows R4 and the code systems that come with it; a code of another system is a warning. Nothing is fetched. */
  private static FhirValidator validator() {
    FhirContext context = FhirContext.forR4Cached();
    var support = new ValidationSupportChain(
        new DefaultProfileValidationSupport(context),
        new CommonCodeSystemsTerminologyService(context),
        new InMemoryTerminologyServerValidationSupport(context));
    var instances = new FhirInstanceValidator(support);
    instances.setAnyExtensionsAllowed(true);
    return context.newValidator().registerValidatorModule(instances);
  }

  private boolean judge(List<Path> files, boolean each) throws IOException {
    List<Line> lines = new ArrayList<>();
    for (Path file : files) {
      String name = file.getFileName().toString();
      String document = name.replaceFirst("\\.ndjson$", "");
      if (name.endsWith(".json")) {
        String text = Files.readString(file);
        lines.add(new Line(document, found(TYPE, text), document, errors(text).toList()));
        continue;
      }
      List<String> texts = Files.readAllLines(file).stream().filter(text -> !text.isBlank()).toList();
      List<String> unknown = texts.stream().filter(text -> !known.containsKey(text)).distinct().toList();
      for (int from = 0; from < unknown.size(); from += BATCH) {
        validate(unknown.subList(from, Math.min(from + BATCH, unknown.size())));
      }
      texts.forEach(text -> lines.add(new Line(document, found(TYPE, text), found(ID, text), known.get(text))));
    }
    boolean passed = report(lines) && !lines.isEmpty();
    for (Accepted error : accepted) {
      if (error.count.get() == 0 && lines.stream().anyMatch(line -> line.document.equals(error.document))) {
        System.out.printf("accepted, but does not occur: %s %s %s%n", error.document, error.element, error.message);
        passed = false;
      }
    }
    if (each) {
      long without = lines.stream().filter(line -> line.issues.isEmpty()).peek(
          line -> System.out.printf("no error is found in %s/%s%n", line.type, line.id)).count();
      return without == 0 && !lines.isEmpty();
    }
    return passed;
  }

  /** Validates resources as one Bundle, since the validator takes long to begin. */
  private void validate(List<String> texts) {
    texts.forEach(text -> known.put(text, new ArrayList<>()));
    String entries = texts.stream().map(text -> String.format(ENTRY, found(TYPE, text), found(ID, text), text))
        .collect(Collectors.joining(","));
    errors(String.format(BUNDLE, entries)).forEach(error -> {
      Matcher entry = PLACE.matcher(error.place);
      if (!entry.matches()) {
        throw new IllegalStateException(error.toString());
      }
      String text = texts.get(Integer.parseInt(entry.group(1)));
      known.get(text).add(new Issue(found(TYPE, text) + entry.group(2), error.message));
    });
  }

  private Stream<Issue> errors(String text) {
    return validator.validateWithResult(text).getMessages().stream()
        .filter(message -> message.getSeverity().compareTo(ResultSeverityEnum.ERROR) >= 0)
        .map(message -> new Issue(String.valueOf(message.getLocationString()), message.getMessage()));
  }

  /** Prints the errors that are not accepted by their kind, most frequent first, and one line in all. */
  private boolean report(List<Line> lines) {
    Map<String, List<String>> kinds = new TreeMap<>();
    for (Line line : lines) {
      for (Issue issue : line.issues) {
        List<Accepted> covering = accepted.stream().filter(error -> error.covers(line.document, issue)).toList();
        covering.forEach(error -> error.count.incrementAndGet());
        if (covering.isEmpty()) {
          String example = line.document + ": " + line.type + "/" + line.id + " " + issue.place + ": " + issue.message;
          kinds.computeIfAbsent(kindOf(issue), kind -> new ArrayList<>()).add(example);
        }
      }
    }
    int wrong = kinds.values().stream().mapToInt(List::size).sum();
    kinds.entrySet().stream()
        .sorted((a, b) -> b.getValue().size() - a.getValue().size())
        .forEach(kind -> {
          System.out.printf("%5d %s%n", kind.getValue().size(), kind.getKey());
          kind.getValue().stream().distinct().limit(3).forEach(example -> System.out.println("        " + example));
        });
    long resources = lines.stream().filter(line -> !line.issues.isEmpty()).count();
    System.out.printf("HL7: %d resources, %d errors of %d kinds; %d resources have errors, %d errors are accepted%n",
        lines.size(), wrong, kinds.size(), resources, accepted.stream().mapToInt(error -> error.count.get()).sum());
    return wrong == 0;
  }

  /** Observation.component[1].value.ofType(Quantity) is Observation.component.value. */
  private static String pathOf(String place) {
    return place.replaceAll("\\[\\d+]|/\\*[^*]*\\*/|\\.ofType\\(\\w+\\)", "");
  }

  /** The element without its resource type, and the message without the values that are in it. */
  private static String kindOf(Issue issue) {
    String element = pathOf(issue.place).replaceFirst("^\\w+\\.", "").replaceAll("\\[url=.*]", "");
    return element + ": " + issue.message.replaceAll("'[^']*'|\"[^\"]*\"|\\([^()]*\\)|#\\S+|\\b\\d+\\b", "…");
  }

  /** A member of a resource. */
  private static String found(String name, String text) {
    try {
      return new ObjectMapper().readTree(text).path(name).asText("?");
    } catch (JsonProcessingException e) {
      return "?";
    }
  }
}
