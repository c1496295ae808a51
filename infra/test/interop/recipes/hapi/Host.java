import ca.uhn.fhir.batch2.jobs.config.Batch2JobsConfig;
import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.context.support.IValidationSupport;
import ca.uhn.fhir.jpa.api.config.*;
import ca.uhn.fhir.jpa.api.dao.IFhirSystemDao;
import ca.uhn.fhir.jpa.batch2.JpaBatch2Config;
import ca.uhn.fhir.jpa.binary.api.IBinaryStorageSvc;
import ca.uhn.fhir.jpa.binstore.MemoryBinaryStorageSvcImpl;
import ca.uhn.fhir.jpa.config.*;
import ca.uhn.fhir.jpa.config.r4.JpaR4Config;
import ca.uhn.fhir.jpa.config.util.HapiEntityManagerFactoryUtil;
import ca.uhn.fhir.jpa.model.config.*;
import ca.uhn.fhir.jpa.model.dialect.*;
import ca.uhn.fhir.jpa.provider.JpaCapabilityStatementProvider;
import ca.uhn.fhir.jpa.search.DatabaseBackedPagingProvider;
import ca.uhn.fhir.jpa.searchparam.config.NicknameServiceConfig;
import ca.uhn.fhir.jpa.searchparam.submit.config.SearchParamSubmitterConfig;
import ca.uhn.fhir.jpa.subscription.channel.config.SubscriptionChannelConfig;
import ca.uhn.fhir.jpa.subscription.match.config.SubscriptionProcessorConfig;
import ca.uhn.fhir.jpa.subscription.match.deliver.email.IEmailSender;
import ca.uhn.fhir.jpa.subscription.submit.config.SubscriptionSubmitterConfig;
import ca.uhn.fhir.jpa.util.LoggingEmailSender;
import ca.uhn.fhir.rest.server.RestfulServer;
import ca.uhn.fhir.rest.server.provider.ResourceProviderFactory;
import ca.uhn.fhir.rest.server.util.ISearchParamRegistry;
import jakarta.persistence.EntityManagerFactory;
import java.util.Properties;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.eclipse.jetty.ee10.servlet.*;
import org.eclipse.jetty.server.Server;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.*;
import org.springframework.orm.jpa.*;

/** HAPI's JPA server with R4 and nothing else: java Host PORT JDBC_URL. */
public class Host {
  static String url;

  @Configuration
  @Import({JpaR4Config.class, HapiJpaConfig.class, PackageLoaderConfig.class, JpaBatch2Config.class,
    Batch2JobsConfig.class, NicknameServiceConfig.class, SubscriptionSubmitterConfig.class,
    SubscriptionProcessorConfig.class, SubscriptionChannelConfig.class, SearchParamSubmitterConfig.class,
    ThreadPoolFactoryConfig.class})
  static class Beans {
    @Bean JpaStorageSettings storageSettings() { return new JpaStorageSettings(); }
    @Bean PartitionSettings partitionSettings() { return new PartitionSettings(); }
    @Bean SubscriptionSettings subscriptionSettings() { return new SubscriptionSettings(); }
    @Bean IBinaryStorageSvc binaryStorage() { return new MemoryBinaryStorageSvcImpl(); }
    @Bean IEmailSender emailSender() { return new LoggingEmailSender(); }

    @Bean DataSource dataSource() {
      BasicDataSource pool = new BasicDataSource();
      pool.setUrl(url);
      pool.setUsername("interop");
      pool.setPassword("interop");
      pool.setMaxTotal(20);
      return pool;
    }

    @Bean LocalContainerEntityManagerFactoryBean entityManagerFactory(
        ConfigurableListableBeanFactory beans, FhirContext fhir, JpaStorageSettings storage, DataSource data) {
      var factory = HapiEntityManagerFactoryUtil.newEntityManagerFactory(beans, fhir, storage);
      factory.setPersistenceUnitName("interop");
      factory.setDataSource(data);
      Properties jpa = new Properties();
      jpa.put("hibernate.hbm2ddl.auto", "update");
      jpa.put("hibernate.dialect", HapiFhirPostgresDialect.class.getName());
      jpa.put("hibernate.search.enabled", "false");
      factory.setJpaProperties(jpa);
      return factory;
    }

    @Bean @Primary JpaTransactionManager transactionManager(EntityManagerFactory factory) {
      return new JpaTransactionManager(factory);
    }
  }

  public static void main(String[] args) throws Exception {
    url = args[1];
    var spring = new AnnotationConfigApplicationContext(Beans.class);
    RestfulServer fhir = new RestfulServer(spring.getBean(FhirContext.class)) {
      @Override protected void initialize() {
        registerProviders(spring.getBean("myResourceProvidersR4", ResourceProviderFactory.class).createProviders());
        registerProvider(spring.getBean("mySystemProviderR4"));
        setPagingProvider(spring.getBean(DatabaseBackedPagingProvider.class));
        setServerConformanceProvider(new JpaCapabilityStatementProvider(this, spring.getBean(IFhirSystemDao.class),
          spring.getBean(JpaStorageSettings.class), spring.getBean(ISearchParamRegistry.class),
          spring.getBean(IValidationSupport.class)));
      }
    };
    Server server = new Server(Integer.parseInt(args[0]));
    ServletContextHandler root = new ServletContextHandler("/");
    root.addServlet(new ServletHolder(fhir), "/fhir/*");
    server.setHandler(root);
    server.start();
    System.out.println("ready");
  }
}
